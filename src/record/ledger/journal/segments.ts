import { readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { makeDirectory } from '../../../directories.ts';
import { GatewayError } from '../../../errors.ts';
import type { Intent, LedgerRow } from '../ledger-row.ts';
import { header, type JournalEntry, journalVersion, parseLine, versionOf } from './journal-line.ts';

/** One file of a journal. Only its owner, one process, appends to it, and only to its last one. */
export interface Segment {
  readonly path: string;
  readonly owner: string;
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

const name = /^([0-9a-f-]{36})-\d{8}\.(?:journal|moving)$/; // earlier builds renamed what they moved

/** The segment that a process appends to. */
export interface OpenSegment {
  readonly path: string;
  readonly handle: FileHandle;
  readonly sinceMs: number;
  bytes: number;
  lines: number;
}

/** A new file, of which the disk knows. Throws what the system throws, and leaves nothing behind then. */
export async function makeSegment(directory: string, owner: string, number: number): Promise<OpenSegment> {
  makeDirectory(directory);
  const path = join(directory, `${owner}-${String(number).padStart(8, '0')}.journal`);
  const handle = await open(path, 'ax', 0o600);
  try {
    await handle.appendFile(header);
    await handle.datasync();
    const folder = await open(directory);
    await folder.sync().finally(() => folder.close());
    return { path, handle, sinceMs: Date.now(), bytes: header.length, lines: 0 };
  } catch (cause) {
    await handle.close();
    await rm(path, { force: true });
    throw cause;
  }
}

/** In the order in which each owner wrote them; none if there is no folder. */
export function listSegments(directory: string): readonly Segment[] {
  return namesIn(directory)
    .toSorted()
    .flatMap((file) => {
      const [, owner] = name.exec(file) ?? [];
      return owner === undefined ? [] : [{ path: join(directory, file), owner }];
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

/** Once all of it is in the database. What could not be read is kept beside, where nobody reads it again. */
export function removeSegment(path: string, { damaged }: Pick<SegmentContent, 'damaged'>): void {
  if (damaged > 0) renameSync(path, `${path}.damaged`);
  else rmSync(path, { force: true });
}

/**
 * Everything in a folder, whoever wrote it; others have their turn between two segments. What leaves it meanwhile is in the
 * database by then, but for what is open in a segment that leaves: the next one has that, so the folder is listed again.
 */
export async function readJournal(directory: string): Promise<JournalContent> {
  const read = new Map<string, readonly JournalEntry[]>();
  for (let isWhole = false; !isWhole; ) {
    isWhole = true;
    for (const { path } of listSegments(directory)) {
      if (read.has(path)) continue;
      try {
        read.set(path, readSegment(path).entries);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
        isWhole = false;
        read.set(path, []); // not again: it may be a link to nothing
      }
      await setImmediate();
    }
  }
  const entries = [...read.values()].flat();
  return { rows: rowsOf(entries), open: openOf(entries) };
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
