import { closeSync, fsyncSync, openSync, renameSync, statSync, writeSync } from 'node:fs';
import { addedSums } from '../added-sums.ts';
import { unknownRow } from '../ledger-row.ts';
import type { LedgerStore } from '../ledger-store.ts';
import { endLine, header, type JournalEntry } from './journal-line.ts';
import { markMoving, openOf, readSegment, removeSegment, rowsOf, type Segment } from './segments.ts';

/** What could not be read in a segment that was moved, and is kept beside the journal. */
export interface Damage {
  readonly path: string;
  readonly lines: number;
}

/** Rows of one transaction: some 50 ms, for which a process that ends has to wait. */
const rowsAtATime = 2_000;

/**
 * Moves a closed segment into the database and deletes it after the last commit; `isEnding` says that there is no time
 * for the rest, which the next process then moves. Whatever ends the process in between, the
 * next try changes nothing that was done. What began in it and did not end is in the segment after it.
 */
export async function moveSegment(
  store: LedgerStore,
  segment: Segment,
  isEnding: () => boolean,
): Promise<readonly Damage[]> {
  const moving = markMoving(segment);
  const content = readSegment(moving.path);
  const rows = rowsOf(content.entries);
  for (let at = 0; at < rows.length; at += rowsAtATime) {
    if (isEnding()) return [];
    await store.add(rows.slice(at, at + rowsAtATime));
  }
  removeSegment(moving, content);
  return damageOf(moving, content);
}

/** Moves all segments of a process that is gone; what it had not ended is settled at its worst case. */
export async function settleOwner(
  store: LedgerStore,
  segments: readonly Segment[],
): Promise<readonly Damage[]> {
  const moved: (readonly [Segment, ReturnType<typeof readSegment>])[] = [];
  for (const segment of segments) {
    const moving = markMoving(segment);
    const content = readSegment(moving.path);
    await store.add(rowsOf(content.entries));
    moved.push([moving, { ...content, entries: [] }]);
  }
  await store.add(openOf(entriesOfLast(moved.map(([segment]) => segment))).map(unknownRow));
  for (const [segment, content] of moved) removeSegment(segment, content);
  return moved.flatMap(([segment, content]) => damageOf(segment, content));
}

/** A segment begins with what was open when it was made. The last one may have been cut short before that. */
function entriesOfLast(segments: readonly Segment[]): readonly JournalEntry[] {
  return segments.slice(-2).flatMap(({ path }) => readSegment(path).entries);
}

function damageOf({ path }: Segment, { damaged }: { damaged: number }): readonly Damage[] {
  return damaged === 0 ? [] : [{ path: `${path}.damaged`, lines: damaged }];
}

/**
 * Replaces the oldest segments by their sums until all take no more than so many bytes. Only those that no transaction has
 * been tried with: without the ids of its rows it could not be repeated. Returns how many rows were given up.
 */
export function sumOldest(segments: readonly Segment[], mostBytes: number): number {
  const sizes = segments.map(({ path }) => statSync(path).size);
  let total = sizes.reduce((sum, size) => sum + size, 0);
  let rows = 0;
  for (const [i, segment] of segments.entries()) {
    if (total <= mostBytes) break;
    if (segment.isMoving) continue;
    rows += sumUp(segment);
    total -= (sizes[i] ?? 0) - statSync(segment.path).size;
  }
  return rows;
}

/** In one step, so that a reader finds either the rows or the sums; the same sums have the same ids each time. */
function sumUp({ path, owner, number }: Segment): number {
  const rows = rowsOf(readSegment(path).entries);
  if (rows.every(({ counts }) => counts !== undefined)) return 0;
  const sums = addedSums(rows).map((sum, i) => ({ ...sum, requestId: `sum_${owner}_${number}_${i}` }));
  const file = openSync(`${path}.new`, 'w', 0o600);
  writeSync(file, header + sums.map(endLine).join(''));
  fsyncSync(file);
  closeSync(file);
  renameSync(`${path}.new`, path);
  return rows.length;
}
