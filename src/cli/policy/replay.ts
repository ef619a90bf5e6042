import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { type Fields, toFields, toText } from '../../dialects/fields.ts';
import { recordedTarget } from '../../dialects/registry.ts';
import { GatewayError } from '../../errors.ts';
import { decideOffline } from '../../gateway/offline/decide-offline.ts';
import { destinationNamed, type PredictedDecision } from '../../gateway/offline/question.ts';
import { senderIn } from '../../gateway/sender.ts';
import { earlierFiles } from '../../record/daily-file.ts';
import { type CommonOptions, commonOptions, outputFormat } from '../shell/command.ts';
import { unreadable } from '../shell/input.ts';
import type { Io } from '../shell/io.ts';
import { print } from '../shell/print/print.ts';
import { wrapped } from '../shell/print/wrapped.ts';
import { recordsFile } from '../shell/running-configuration.ts';
import { startSpinner } from '../shell/spinner.ts';
import { type LoadedPolicies, loadPolicies } from './load-policies.ts';

interface ReplayOptions extends CommonOptions {
  readonly key?: string;
  readonly all?: true;
}

/** The recorded decision. */
interface Was {
  readonly decision: string;
  /** The rule that determined a block or a redaction. */
  readonly rule?: string | undefined;
  readonly reason?: string | undefined;
}

/** One recorded request, as `-o json` prints it. */
interface Replayed {
  readonly request_id: string;
  readonly time: string;
  readonly key: string;
  readonly endpoint: string;
  readonly was: Was;
  readonly now: {
    readonly [Name in 'decision' | 'rule' | 'reason' | 'at' | 'would_block']: PredictedDecision[Name];
  };
  readonly changed: boolean;
}

/** Why a record can't be replayed. */
type Skipped = 'no body' | 'not decided' | 'unreadable' | 'unknown key';

interface Totals {
  requests: number;
  same: number;
  changed: number;
  /** How many changed from one decision to another: `allow -> block`. */
  readonly changes: Record<string, number>;
  readonly skipped: Partial<Record<Skipped, number>>;
}

/** Throws policy.mismatch if a record would be decided differently, and usage.invalid if none can be replayed. */
export async function replay(given: string | undefined, command: Command, io: Io): Promise<void> {
  const format = outputFormat(command, ['text', 'json', 'ndjson']);
  const options = commonOptions(command) as ReplayOptions;
  const file = given ?? (await recordsFile(options, io));
  const files = given === undefined ? [...earlierFiles(file).toReversed(), file] : [file];
  const policies = await loadPolicies(options, io);
  if (options.key !== undefined) policies.findKey(options.key);
  const totals: Totals = { requests: 0, same: 0, changed: 0, changes: {}, skipped: {} };
  const records: Replayed[] = [];
  // With each line on the same terminal, the lines are the progress.
  const printsLines = io.stdout.isTTY === true && options.all === true;
  const progress = () => `replayed ${totals.requests} requests, ${totals.changed} decided differently`;
  let stop = printsLines ? () => undefined : startSpinner(progress, options, io);
  const show = async (text: string) => {
    stop();
    await print(await wrapped(text, io.stdout), io);
    if (!printsLines) stop = startSpinner(progress, options, io);
  };
  try {
    for await (const { line, text } of linesOf(files, io)) {
      const replayed = await replayRecord(text, policies, options.key);
      count(totals, replayed);
      const isSkipped = typeof replayed === 'string';
      if (format === 'ndjson') {
        await print(`${JSON.stringify(isSkipped ? { line, skipped: replayed } : replayed)}\n`, io);
      } else if (isSkipped) continue;
      else if (format === 'json') records.push(replayed);
      else if (replayed.changed || options.all) await show(asText(replayed));
    }
  } finally {
    stop();
  }
  if (format === 'json') await print(`${JSON.stringify({ ...totals, records }, null, 2)}\n`, io);
  await conclude(totals, { format, file, io });
}

/** The lines of some files that aren't empty; `-` reads standard input. Throws usage.invalid. */
async function* linesOf(files: readonly string[], io: Io) {
  let line = 0;
  for (const file of files) {
    for await (const text of textsOf(file, io)) {
      line += 1;
      if (text.trim() !== '') yield { line, text };
    }
  }
}

async function* textsOf(file: string, io: Io) {
  const input = file === '-' ? io.stdin : createReadStream(resolve(io.cwd, file));
  try {
    for await (const text of createInterface({
      input,
      crlfDelay: Number.POSITIVE_INFINITY,
      signal: io.signal,
    })) {
      io.signal.throwIfAborted();
      yield text;
    }
    io.signal.throwIfAborted();
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (typeof code !== 'string' || !code.startsWith('E')) throw cause;
    throw unreadable(file, cause);
  }
}

/** What is decided now, next to what was; or why the record can't be replayed. */
async function replayRecord(
  text: string,
  { config, knownKey }: LoadedPolicies,
  keyId: string | undefined,
): Promise<Replayed | Skipped> {
  let record: Fields;
  try {
    record = toFields(JSON.parse(text));
  } catch {
    return 'unreadable'; // the last line of a file that is being written
  }
  const { request_body: body, path, model } = record;
  const key = toText(record.key);
  const endpoint = toText(record.endpoint);
  const time = toText(record.time);
  const id = toText(record.request_id);
  if (id === '') return 'unreadable';
  if (key === '' || endpoint === '' || time === '') return 'not decided';
  if (typeof body !== 'string') return 'no body';
  const was = wasDecided(record);
  // Bytes that are not UTF-8 can't be kept in a record, so they can't be read again either.
  if (was === undefined || was.reason === 'request.encoding') return 'not decided';
  const known = knownKey(keyId ?? key);
  if (known === undefined) return 'unknown key';
  const target = typeof path === 'string' ? recordedTarget({ path, model: toText(model) }) : endpoint;
  const { predicted } = await decideOffline({
    config,
    key: known,
    ...destinationNamed(target),
    body: Buffer.from(body),
    sender: senderIn(record),
    nowMs: Date.parse(time),
  });
  const { decision, rule, reason, at, would_block } = predicted;
  const changed =
    was.decision !== decision ||
    (decision === 'block' && was.reason !== reason) ||
    (hasRule(decision) && was.rule !== rule);
  const now = { decision, rule, reason, at, would_block };
  return { request_id: id, time, key: known.id, endpoint, was, now, changed };
}

/** The decision, or the refusal of strict parsing that comes before it. */
function wasDecided({ decision, outcome, reason, rules }: Fields): Was | undefined {
  if (typeof decision !== 'string') {
    const isGate = outcome === 'refused' && typeof reason === 'string' && reason.startsWith('request.');
    return isGate ? { decision: 'block', reason } : undefined;
  }
  if (!hasRule(decision)) return { decision };
  const first = (Array.isArray(rules) ? rules : [])
    .map(toFields)
    .find(({ action, mode }) => action === decision && mode === 'enforce');
  const isBlocked = decision === 'block';
  return {
    decision,
    rule: toText(first?.id) || undefined,
    reason: (isBlocked && toText(reason)) || undefined,
  };
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
