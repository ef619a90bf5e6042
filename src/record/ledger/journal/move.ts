import { unknownRow } from '../ledger-row.ts';
import type { LedgerStore } from '../ledger-store.ts';
import { openOf, readSegment, removeSegment, rowsOf, type Segment } from './segments.ts';

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
  path: string,
  isEnding: () => boolean,
): Promise<readonly Damage[]> {
  const { entries, damaged } = readSegment(path);
  const rows = rowsOf(entries);
  for (let at = 0; at < rows.length; at += rowsAtATime) {
    if (isEnding()) return [];
    await store.add(rows.slice(at, at + rowsAtATime));
  }
  removeSegment(path, { damaged });
  return damageOf(path, damaged);
}

/** Moves all segments of a process that is gone; what it had not ended is settled at its worst case. */
export async function settleOwner(
  store: LedgerStore,
  segments: readonly Segment[],
): Promise<readonly Damage[]> {
  const moved: { readonly path: string; readonly damaged: number }[] = [];
  for (const { path } of segments) {
    const { entries, damaged } = readSegment(path);
    await store.add(rowsOf(entries));
    moved.push({ path, damaged });
  }
  // A segment begins with what was open when it was made. The last one may have been cut short before that.
  const last = segments.slice(-2).flatMap(({ path }) => readSegment(path).entries);
  await store.add(openOf(last).map(unknownRow));
  for (const { path, damaged } of moved) removeSegment(path, { damaged });
  return moved.flatMap(({ path, damaged }) => damageOf(path, damaged));
}

function damageOf(path: string, damaged: number): readonly Damage[] {
  return damaged === 0 ? [] : [{ path: `${path}.damaged`, lines: damaged }];
}
