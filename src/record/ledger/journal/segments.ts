import { readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { GatewayError } from '../../../errors.ts';
import { makeDirectory } from '../../../lib/directories.ts';
import { RowSums, type Sums, sumsOf } from '../ledger-columns.ts';
import { type Intent, type LedgerRow, unknownRow } from '../ledger-row.ts';
import type { LedgerStore, ReadSegment, SegmentId } from '../ledger-store.ts';
import {
  firstMovedWhole,
  type JournalEntry,
  journalVersion,
  parseLine,
  segmentHeader,
  versionOf,
} from './journal-line.ts';

/** One file of a journal. Only its owner, one process, appends to it, and only to its last one. */
export interface JournalSegment extends SegmentId {
  readonly path: string;
}

interface SegmentContent {
  readonly entries: readonly JournalEntry[];
  /** Whether an earlier build wrote it, which may have moved some of its rows, one by one. */
  readonly isOld: boolean;
  /** How many lines can't be read, other than a last one that was cut short. */
  readonly damaged: number;
}

const name = /^([0-9a-f-]{36})-(\d{8})\.(?:journal|moving)$/; // earlier builds renamed what they moved

/** The segment that a process appends to. */
export interface OpenSegment extends JournalSegment {
  readonly handle: FileHandle;
  readonly sinceMs: number;
  bytes: number;
  lines: number;
  /** What the exchanges that ended in it add to the sums. */
  readonly sums: RowSums;
}

/** A new file whose name is on the disk, too. Throws what the system throws, and leaves nothing behind then. */
export async function makeSegment(directory: string, owner: string, number: number): Promise<OpenSegment> {
  makeDirectory(directory);
  const path = join(directory, `${owner}-${String(number).padStart(8, '0')}.journal`);
  const handle = await open(path, 'ax', 0o600);
  try {
    await handle.appendFile(segmentHeader);
    await handle.datasync();
    const folder = await open(directory);
    await folder.sync().finally(() => folder.close());
    const sums = new RowSums();
    return { path, owner, number, handle, sinceMs: Date.now(), bytes: segmentHeader.length, lines: 0, sums };
  } catch (cause) {
    await handle.close();
    await rm(path, { force: true });
    throw cause;
  }
}

/** In the order in which each owner wrote them; none if there is no folder. */
export function listSegments(directory: string): readonly JournalSegment[] {
  return namesIn(directory)
    .toSorted()
    .flatMap((file) => {
      const [, owner, number] = name.exec(file) ?? [];
      return owner === undefined ? [] : [{ path: join(directory, file), owner, number: Number(number) }];
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
function readSegment(path: string): SegmentContent {
  const lines = readFileSync(path, 'utf8').split('\n');
  const last = lines.pop(); // empty, or cut short
  const version = versionOf(lines[0] ?? '');
  if (version !== undefined && version > journalVersion) {
    throw new GatewayError('config.invalid', `a newer version of the gateway wrote ${path}`);
  }
  const isOld = version !== undefined && version < firstMovedWhole;
  const entries: JournalEntry[] = [];
  let damaged = version === undefined && lines.length > 0 ? 1 : 0;
  for (const line of lines.slice(1)) {
    const entry = parseLine(line);
    if (entry === undefined) damaged += 1;
    else entries.push(entry);
  }
  const whole = last === undefined || last === '' ? undefined : parseLine(last);
  if (whole !== undefined) entries.push(whole);
  return { entries, isOld, damaged };
}

/** Once all of it is in the database. Unreadable parts are kept beside it, where they aren't read again. */
function removeSegment(path: string, { damaged }: Pick<SegmentContent, 'damaged'>): void {
  if (damaged > 0) renameSync(path, `${path}.damaged`);
  else rmSync(path, { force: true });
}

/**
 * Everything in a folder, whoever wrote it; others have their turn between two segments. What leaves it meanwhile is in the
 * database by then, but for what is open in a segment that leaves: the next one has that, so the folder is listed again.
 */
export async function readJournal(directory: string): Promise<readonly ReadSegment[]> {
  const read = new Map<string, ReadSegment>();
  const missing = new Set<string>(); // not looked for again: one may be a link to nothing
  for (let isStable = false; !isStable; ) {
    isStable = true;
    // The last one of each owner may have got more lines since.
    for (const path of new Map([...read].map(([path, { owner }]) => [owner, path])).values())
      read.delete(path);
    for (const { path, owner, number } of listSegments(directory)) {
      if (read.has(path) || missing.has(path)) continue;
      try {
        read.set(path, { owner, number, entries: readSegment(path).entries });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
        missing.add(path);
        isStable = false;
      }
      await setImmediate();
    }
  }
  return [...read.values()];
}

/** One for each request id. */
export function rowsOf(entries: readonly JournalEntry[]): readonly LedgerRow[] {
  const rows = new Map<string, LedgerRow>();
  for (const entry of entries) if (entry.kind === 'end') rows.set(entry.row.request_id, entry.row);
  return [...rows.values()];
}

/** What began and did not end. */
export function openOf(entries: readonly JournalEntry[]): readonly Intent[] {
  const open = new Map<string, Intent>();
  for (const entry of entries) if (entry.kind === 'begin') open.set(entry.intent.request_id, entry.intent);
  for (const entry of entries) {
    if (entry.kind === 'end') open.delete(entry.row.request_id);
    if (entry.kind === 'cancel') open.delete(entry.requestId);
  }
  return [...open.values()];
}

/** What could not be read in a segment that was moved, and is kept beside the journal. */
export interface Damage {
  readonly path: string;
  readonly lines: number;
}

interface Move {
  readonly store: LedgerStore;
  readonly keepsRows: boolean;
}

/**
 * Moves a closed segment into the database, and deletes it after the commit. Whatever ends the process in between, the next
 * try changes nothing that was done. What began in it and did not end is in the segment after it. `sums` is what it adds,
 * where that is known: then it isn't read.
 */
export async function moveSegment(
  move: Move,
  segment: JournalSegment,
  sums?: Sums,
): Promise<readonly Damage[]> {
  const { path } = segment;
  if (sums !== undefined) await move.store.add({ segment, sums });
  const damaged = sums === undefined ? await addSegment(move, segment) : 0;
  removeSegment(path, { damaged });
  return damageOf(path, damaged);
}

/** Returns how many of its lines can't be read. */
async function addSegment({ store, keepsRows }: Move, segment: JournalSegment): Promise<number> {
  const { entries, isOld, damaged } = readSegment(segment.path);
  const rows = rowsOf(entries);
  await store.add({ segment, ...(keepsRows || isOld ? { rows } : { sums: sumsOf(rows) }) });
  return damaged;
}

/** Moves all segments of a process that is gone; what it had not ended is settled at its worst case. */
export async function settleOwner(
  move: Move,
  segments: readonly JournalSegment[],
): Promise<readonly Damage[]> {
  const moved: { readonly path: string; readonly damaged: number }[] = [];
  for (const segment of segments)
    moved.push({ path: segment.path, damaged: await addSegment(move, segment) });
  // A segment begins with what was open when it was made. The last one may have been cut short before that.
  const last = segments.slice(-2).flatMap(({ path }) => readSegment(path).entries);
  await move.store.add({ rows: openOf(last).map(unknownRow) });
  for (const { path, damaged } of moved) removeSegment(path, { damaged });
  return moved.flatMap(({ path, damaged }) => damageOf(path, damaged));
}

function damageOf(path: string, damaged: number): readonly Damage[] {
  return damaged === 0 ? [] : [{ path: `${path}.damaged`, lines: damaged }];
}
