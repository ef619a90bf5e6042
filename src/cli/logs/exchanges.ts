import { type Paint, painter } from '../../lib/paint.ts';
import { decidingRule, prettyLine } from '../../record/pretty.ts';
import { followRecords, linesWith, recordsBackwards } from '../../record/read-records.ts';
import type { ExchangeRecord } from '../../record/record.ts';
import type { CommonOptions } from '../shell/command.ts';
import { hasColour, type Io, write } from '../shell/io.ts';
import { localDay, note } from '../shell/print/print.ts';
import { printList } from '../shell/print/table.ts';
import { wrapped } from '../shell/print/wrapped.ts';
import { endOfWatching } from '../shell/terminal.ts';

export interface ExchangeFilter {
  readonly blocked?: true;
  readonly project?: string;
  readonly session?: string;
  /** Milliseconds back from now. */
  readonly since?: number;
}

interface Listed extends ExchangeFilter {
  readonly file: string;
  readonly limit: number;
}

/** Prints the latest exchanges, the newest last. */
export async function listExchanges(listed: Listed, options: CommonOptions, io: Io): Promise<void> {
  const shown = await latest(listed);
  const { blocked, project, session, since } = listed;
  const isAll = [blocked, project, session, since].every((filter) => filter === undefined);
  if (shown.length === 0 && isAll && options.quiet !== true)
    await note('no exchange is recorded yet: "gateway serve" records each one\n', io);
  await print([shown], options, io);
}

/**
 * Prints the latest exchanges, and every further one as it is recorded, until the command is interrupted. That a pipe's
 * reader left, as `head -1` does, is found when the next record is written: Node can't poll a pipe that it only
 * writes, an empty write succeeds without a reader, and so does opening the pipe once more (tried on Linux).
 */
export async function followExchanges(listed: Listed, options: CommonOptions, io: Io): Promise<void> {
  const appended = await followRecords(listed.file, io.signal);
  // A JSON array would never end.
  const lines: CommonOptions = options.output === 'json' ? { ...options, output: 'ndjson' } : options;
  const shown = await latest(listed);
  await print([shown], lines, io);
  // Records appended in between are in both.
  const known = new Set(shown.map(identityOf));
  for await (const record of appended) {
    if (isWanted(record, listed) && !known.has(identityOf(record))) await print([[record]], lines, io);
  }
  throw endOfWatching(io.signal.reason, io);
}

/** A repeated refusal has a second record, with its count. */
function identityOf({ request_id: id, repeats = 0 }: ExchangeRecord): string {
  return `${id} ${repeats}`;
}

async function latest({ file, limit, since, ...filter }: Listed): Promise<readonly ExchangeRecord[]> {
  const fromTime = since === undefined ? '' : new Date(Date.now() - since).toISOString();
  const found: ExchangeRecord[] = [];
  // An id has no character that JSON escapes.
  const findLines = filter.session === undefined ? undefined : linesWith([filter.session]);
  for await (const record of recordsBackwards(file, findLines)) {
    // Records are written when exchanges end, so a long one comes after shorter ones that began later.
    if (record.time < fromTime && Date.parse(record.time) + record.total_ms < Date.parse(fromTime)) break;
    if (record.time >= fromTime && isWanted(record, filter)) found.push(record);
    if (found.length >= limit) break;
  }
  return found.reverse();
}

function isWanted(record: ExchangeRecord, { blocked, project, session }: ExchangeFilter): boolean {
  const isRefused = record.outcome === 'refused' || record.decision === 'block';
  if (blocked === true && !isRefused) return false;
  if (session !== undefined && record.session !== session) return false;
  return project === undefined || record.project === project;
}

async function print(
  batches: readonly (readonly ExchangeRecord[])[],
  options: CommonOptions,
  io: Io,
): Promise<void> {
  const isForPeople = io.stdout.isTTY === true && (options.output ?? 'text') === 'text';
  if (isForPeople) {
    const paint = painter(options.color && hasColour(io.stdout, io.env));
    for (const record of batches.flat())
      await write(io.stdout, await wrapped(`${day(record, paint)}${prettyLine(record, paint)}`, io.stdout));
    return;
  }
  await printList(batches, { header, row }, options, io);
}

/** The date with a space, unless it is today's. */
function day({ time }: ExchangeRecord, paint: Paint): string {
  const date = localDay(Date.parse(time));
  return date === localDay(Date.now()) ? '' : `${paint('dim', date)} `;
}

const header = [
  'TIME',
  'STATUS',
  'OUTCOME',
  'PROJECT',
  'ENDPOINT',
  'MODEL',
  'DECISION',
  'RULE',
  'REASON',
  'MS',
  'REQUEST',
];

function row(record: ExchangeRecord): readonly string[] {
  const { time, status, outcome, project = '', endpoint, path, model = '', reason = '' } = record;
  const { decision = '' } = record;
  const ms = String(Math.round(record.total_ms));
  const about = [project, endpoint ?? path, model, decision, decidingRule(record) ?? '', reason];
  return [time, String(status), outcome, ...about, ms, record.request_id];
}
