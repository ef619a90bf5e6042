import { readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { GatewayError } from '../../../errors.ts';
import type { Intent, LedgerRow } from '../ledger-row.ts';
import { type JournalEntry, journalVersion, parseLine, versionOf } from './journal-line.ts';

/** One file of a journal. Only its owner, one process, appends to it; the one with the highest number. */
export interface Segment {
  readonly path: string;
  readonly owner: string;
  readonly number: number;
  /** Whether a transaction with its rows may have been committed: then it must keep their ids. */
  readonly isMoving: boolean;
}

export interface SegmentContent {
  readonly entries: readonly JournalEntry[];
  /** How many lines can't be read, other than a last one that was cut short. */
  readonly damaged: number;
}

/** What a journal has: the exchanges that are over, and those that are not, as far as it says. */
export interface JournalContent {
  readonly rows: readonly LedgerRow[];
  readonly open: readonly Intent[];
}

const name = /^([0-9a-f-]{36})-(\d{8})\.(journal|moving)$/;

export function segmentPath(directory: string, owner: string, number: number): string {
  return join(directory, `${owner}-${String(number).padStart(8, '0')}.journal`);
}

/** In the order in which each owner wrote them; none if there is no folder. */
export function listSegments(directory: string): readonly Segment[] {
  return namesIn(directory)
    .toSorted()
    .flatMap((file) => {
      const [, owner, number, suffix] = name.exec(file) ?? [];
      if (owner === undefined) return [];
      return [{ path: join(directory, file), owner, number: Number(number), isMoving: suffix === 'moving' }];
    });
}

export function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Throws config.invalid for a segment of a newer version. */
export function readSegment(path: string): SegmentContent {
  const lines = readFileSync(path, 'utf8').split('\n');
  const last = lines.pop(); // empty, or cut short
  const version = versionOf(lines[0] ?? '');
  if (version !== undefined && version > journalVersion) {
    throw new GatewayError('config.invalid', `a newer version of the gateway wrote ${path}`);
  }
  const entries: JournalEntry[] = [];
  let damaged = version === undefined && lines.length > 0 ? 1 : 0;
  for (const line of lines.slice(1)) {
    const entry = parseLine(line);
    if (entry === undefined) damaged += 1;
    else entries.push(entry);
  }
  const whole = last === undefined || last === '' ? undefined : parseLine(last);
  if (whole !== undefined) entries.push(whole);
  return { entries, damaged };
}

/** Marks a segment before its rows are committed; a second time too. */
export function markMoving(segment: Segment): Segment {
  if (segment.isMoving) return segment;
  const path = segment.path.replace(/journal$/, 'moving');
  renameSync(segment.path, path);
  return { ...segment, path, isMoving: true };
}

/** Once all of it is in the database. What could not be read is kept beside, where nobody reads it again. */
export function removeSegment({ path }: Segment, { damaged }: SegmentContent): void {
  if (damaged > 0) renameSync(path, `${path}.damaged`);
  else rmSync(path, { force: true });
}

/** Everything in a folder, whoever wrote it. Segments that disappear meanwhile are in the database by then. */
export function readJournal(directory: string): JournalContent {
  const entries = listSegments(directory).flatMap(({ path }) => {
    try {
      return readSegment(path).entries;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      return readMoved(path);
    }
  });
  return { rows: rowsOf(entries), open: openOf(entries) };
}

/** What was renamed after the folder was listed. */
function readMoved(path: string): readonly JournalEntry[] {
  try {
    return readSegment(path.replace(/journal$/, 'moving')).entries;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return [];
  }
}

/** One for each request id. */
export function rowsOf(entries: readonly JournalEntry[]): readonly LedgerRow[] {
  const rows = new Map<string, LedgerRow>();
  for (const entry of entries) if (entry.kind === 'end') rows.set(entry.row.requestId, entry.row);
  return [...rows.values()];
}

/** What began and did not end. */
export function openOf(entries: readonly JournalEntry[]): readonly Intent[] {
  const open = new Map<string, Intent>();
  for (const entry of entries) if (entry.kind === 'begin') open.set(entry.intent.requestId, entry.intent);
  for (const entry of entries) {
    if (entry.kind === 'end') open.delete(entry.row.requestId);
    if (entry.kind === 'cancel') open.delete(entry.requestId);
  }
  return [...open.values()];
}
