import type { Command } from 'commander';
import { GatewayError } from '../../errors.ts';
import type { Outcome } from '../../gateway/offline/question.ts';
import { recordsFile } from '../logs/records-file.ts';
import { commonOptions, createCommand, outputFormat } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';
import { print } from '../shell/print/print.ts';
import type { LoadedPolicies } from './load-policies.ts';
import type { Recorded, Skipped, Was } from './recorded.ts';

interface ReplayOptions {
  readonly key?: string;
  readonly all?: true;
}

/** One recorded request, as `-o json` prints it. */
interface Replayed {
  readonly request_id: string;
  readonly time: string;
  readonly key: string;
  readonly endpoint: string;
  readonly was: Was;
  readonly now: { readonly [Name in 'decision' | 'rule' | 'reason' | 'at' | 'would_block']: Outcome[Name] };
  readonly changed: boolean;
}

interface Totals {
  requests: number;
  same: number;
  changed: number;
  /** How many changed from one decision to another: `allow -> block`. */
  readonly changes: Record<string, number>;
  readonly skipped: Partial<Record<Skipped, number>>;
}

export function build(io: Io): Command {
  return createCommand({
    name: 'replay',
    summary:
      'show what the current policies would decide on recorded requests; exit 1 if any decision differs',
    examples: [
      'gateway policy replay',
      'gateway policy replay records.jsonl -c next.yaml --all',
      'tail -n 1000 records.jsonl | gateway policy replay - -o ndjson',
    ],
  })
    .argument(
      '[records]',
      "JSON lines written with records.bodies: true; - reads standard input (default: the gateway's own)",
    )
    .option('--key <id>', 'decide as for this key (default: the key of each record)')
    .option('--all', 'list the requests whose decision is unchanged, too')
    .action(async (given: string | undefined, options: ReplayOptions, command: Command) => {
      const format = outputFormat(command, ['text', 'json', 'ndjson']);
      const engine = await import('./engine.ts');
      const file = given ?? (await recordsFile(commonOptions(command), io));
      const policies = await engine.loadPolicies(commonOptions(command), io);
      if (options.key !== undefined) policies.findKey(options.key);
      const totals: Totals = { requests: 0, same: 0, changed: 0, changes: {}, skipped: {} };
      const kept: Replayed[] = [];
      for await (const recorded of engine.readRecords(file, io)) {
        const replayed = replayOne(recorded, { engine, policies, keyId: options.key });
        count(totals, replayed);
        if (typeof replayed === 'string') {
          const left = { line: recorded.line, skipped: replayed };
          if (format === 'ndjson') await print(`${JSON.stringify(left)}\n`, io);
          continue;
        }
        if (format === 'ndjson') await print(`${JSON.stringify(replayed)}\n`, io);
        else if (format === 'json') kept.push(replayed);
        else if (replayed.changed || options.all) await print(asText(replayed), io);
      }
      if (format === 'json') {
        await print(`${JSON.stringify({ ...totals, records: kept }, null, 2)}\n`, io);
      }
      await conclude(totals, { format, file, io });
    });
}

interface Replay {
  readonly engine: typeof import('./engine.ts');
  readonly policies: LoadedPolicies;
  readonly keyId: string | undefined;
}

/** The current decision; or why the record can't be replayed. */
function replayOne(recorded: Recorded, { engine, policies, keyId }: Replay): Replayed | Skipped {
  if (recorded.kind === 'skipped') return recorded.why;
  const { requestId, time, endpoint, key: recordedKey, body, was } = recorded;
  const key = policies.knownKey(keyId ?? recordedKey);
  if (key === undefined) return 'unknown key';
  const { outcome } = engine.decideOffline({
    config: policies.config,
    key,
    ...engine.destinationNamed(recorded.destination),
    body,
    nowMs: Date.parse(time),
  });
  const { decision, rule, reason, at, would_block } = outcome;
  const now = { decision, rule, reason, at, would_block };
  const changed =
    was.decision !== decision ||
    (decision === 'block' && was.reason !== reason) ||
    (hasRule(decision) && was.rule !== rule);
  return { request_id: requestId, time, key: key.id, endpoint, was, now, changed };
}

function count(totals: Totals, replayed: Replayed | Skipped): void {
  if (typeof replayed === 'string') {
    totals.skipped[replayed] = (totals.skipped[replayed] ?? 0) + 1;
    return;
  }
  totals.requests += 1;
  if (!replayed.changed) {
    totals.same += 1;
    return;
  }
  totals.changed += 1;
  const change = `${replayed.was.decision} -> ${replayed.now.decision}`;
  totals.changes[change] = (totals.changes[change] ?? 0) + 1;
}

function asText({ request_id, time, key, endpoint, was, now, changed }: Replayed): string {
  const at = now.at === undefined ? '' : ` at ${now.at}`;
  const what = changed ? `${side(was)} -> ${side(now)}${at}` : `${side(now)}, as then`;
  return `${time} ${request_id} ${key} ${endpoint}  ${what}\n`;
}

/** Whether a rule's action made the decision. */
function hasRule(decision: string): boolean {
  return ['block', 'redact', 'mask'].includes(decision);
}

function side({ decision, rule, reason }: Was): string {
  if (!hasRule(decision)) return decision;
  return [decision, rule, ...(reason === undefined ? [] : [`(${reason})`])].filter(Boolean).join(' ');
}

async function conclude(
  totals: Totals,
  { format, file, io }: { format: 'text' | 'json' | 'ndjson'; file: string; io: Io },
): Promise<void> {
  const { requests, same, changed } = totals;
  const summary = `${requests} requests: ${same} as then, ${changed} otherwise${list(totals.changes)}`;
  const skipped = Object.entries(totals.skipped).map(([why, number]) => `${number} ${why}`);
  const left = skipped.length === 0 ? '' : `; left out: ${skipped.join(', ')}`;
  if (format === 'text') await print(`${summary}${left}\n`, io);
  if (requests === 0) {
    const message = `${file} contains no request that can be replayed${left}; bodies are recorded with records.bodies: true`;
    throw new GatewayError('usage.invalid', message);
  }
  if (changed > 0) {
    throw new GatewayError(
      'policy.mismatch',
      `${changed} of ${requests} requests would be decided differently`,
    );
  }
}

function list(changes: Readonly<Record<string, number>>): string {
  const parts = Object.entries(changes).map(([change, number]) => `${number} ${change}`);
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}
