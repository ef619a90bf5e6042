import { setTimeout } from 'node:timers/promises';
import { GatewayError, toGatewayError } from '../../errors.ts';
import { linesWith, recordsBackwards } from '../../record/read-records.ts';
import type { ExchangeRecord } from '../../record/record.ts';
import type { CommonOptions } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';
import { loadUserConfig } from '../shell/load-config.ts';
import { note } from '../shell/print/print.ts';
import { followRunning, recordsFile } from '../shell/running-configuration.ts';
import { amountsText } from '../usage/amounts-text.ts';

/** The last exchange is recorded once the agent has its answer, and records reach the file within 200 ms (`LineFile`). */
const lastRecordMs = 400;

/** An agent that has ended. */
interface EndedRun {
  readonly id: string;
  readonly agent: string;
  /** In milliseconds since 1970. */
  readonly startedMs: number;
}

/**
 * In one line, what the agent that has just ended did: requests, tokens, cost, what policies found, where to look; that
 * only for people. For everybody, that no request of it arrived: settings that no check knows may have led it elsewhere.
 */
export async function noteRun(run: EndedRun, options: CommonOptions, io: Io): Promise<void> {
  const isForPeople = io.stderr.isTTY === true;
  const records = await readRecords(run, { ...options, isForPeople }, io).catch(toGatewayError);
  if (records instanceof GatewayError) {
    await note(`gateway: whether its requests reached the gateway is not known: ${records.message}\n`, io);
  } else if (records.length === 0) {
    const advice = `if ${run.agent} got answers, its settings lead elsewhere or have another key; "gateway doctor" checks them`;
    await note(`gateway: no request of this run reached the gateway: ${advice}\n`, io);
  } else if (isForPeople) await note(summaryOf(records, await hasLedger(options, io)), io);
}

/** Whether `gateway sessions` can show the run. A file that is no longer valid was so when it was served. */
async function hasLedger(options: CommonOptions, io: Io): Promise<boolean> {
  const followed = await followRunning({ ...options, quiet: true }, io);
  const loaded = followed && (await loadUserConfig(followed, io).catch(toGatewayError));
  return loaded instanceof GatewayError || loaded?.config.records.ledger !== undefined;
}

/** All of them; if nobody counts them, at least one if there is any. */
async function readRecords(
  run: EndedRun,
  { isForPeople, ...options }: CommonOptions & { readonly isForPeople: boolean },
  io: Io,
): Promise<readonly ExchangeRecord[]> {
  const file = await recordsFile(options, io);
  const written = isForPeople ? [] : await recordsOf(run, file);
  if (written.length > 0) return written;
  await setTimeout(lastRecordMs, undefined, { signal: io.signal }).catch(() => undefined);
  return recordsOf(run, file);
}

/** Its requests for answers, not those for lists of models. */
async function recordsOf({ id, startedMs }: EndedRun, file: string): Promise<readonly ExchangeRecord[]> {
  const records: ExchangeRecord[] = [];
  const ofRun = linesWith([id]);
  // The first line of each block shows whether those before it are older than the run.
  const lines = (block: Buffer) => {
    const first = block.subarray(0, block.indexOf('\n'));
    return first.includes(id) ? ofRun(block) : [...ofRun(block), first];
  };
  for await (const record of recordsBackwards(file, lines)) {
    if (record.run === id && record.method === 'POST') records.push(record);
    else if (Date.parse(record.time) + record.total_ms < startedMs) break;
  }
  return records;
}

function summaryOf(records: readonly ExchangeRecord[], isInLedger: boolean): string {
  const sum = (amount: (record: ExchangeRecord) => number | undefined) =>
    records.reduce((total, record) => total + (amount(record) ?? 0), 0);
  const used = amountsText({
    requests: records.length,
    input_tokens: sum(({ usage }) => usage?.input_tokens),
    output_tokens: sum(({ usage }) => usage?.output_tokens),
    cache_read_tokens: sum(({ usage }) => usage?.cache_read_tokens),
    cost_usd: sum(({ cost_usd }) => cost_usd),
    unpriced: sum(({ usage, cost_usd }) => (usage !== undefined && cost_usd === undefined ? 1 : 0)),
  });
  return `gateway: ${[used, ...findingsOf(records)].join('; ')}; ${whereToLook(records, isInLedger)}\n`;
}

/** What policies and limits did. */
function findingsOf(records: readonly ExchangeRecord[]): readonly string[] {
  const kinds = {
    refused: ({ outcome }: ExchangeRecord) => outcome === 'refused',
    masked: ({ masked }: ExchangeRecord) => masked !== undefined,
    redacted: ({ decision }: ExchangeRecord) => decision === 'redact',
    'with a warning': ({ decision }: ExchangeRecord) => decision === 'warn',
    failed: ({ outcome }: ExchangeRecord) => outcome === 'failed',
  };
  return Object.entries(kinds).flatMap(([name, isOf]) => {
    const count = records.filter(isOf).length;
    return count === 0 ? [] : [`${count} ${name}`];
  });
}

function whereToLook(records: readonly ExchangeRecord[], isInLedger: boolean): string {
  const [session, ...others] = new Set(records.flatMap(({ session }) => session ?? []));
  if (!isInLedger) return `gateway logs -n ${records.length}`;
  if (session !== undefined && others.length === 0) return `gateway sessions show ${session}`;
  return session === undefined ? `gateway logs -n ${records.length}` : 'gateway sessions';
}
