import type { Segment } from '../traverse/place.ts';

/** Segments that detectors get joined. */
export const segmentLimit = 256;
/** Segments of at least this many bytes are checked immediately. */
const longText = 256;
/** Kinds of optional segments up to which the sequence is read without each. */
const leftOutLimit = 8;
/** Characters of the shortest thing that a detector finds. */
const shortestMatch = 6;

export function isLong(segment: Segment): boolean {
  return lengthOf(segment) >= longText;
}

function lengthOf({ place: { document, entry } }: Segment): number {
  return document.end(entry) - document.start(entry);
}

export function isRequired({ optional }: Segment): boolean {
  return optional === undefined;
}

/**
 * The ways in which some segments may be joined: all of them, without what some readers leave out, and without all that
 * any reader leaves out. Each as far as there is no markup between them: all, those of one role, turn or block; and the
 * end of each turn with the beginning of the next, whatever stands around them.
 */
export function* readingsOf(segments: readonly Segment[]): Iterable<readonly Segment[]> {
  yield* groupsOf(segments);
  const leftOut = new Set(segments.flatMap(({ optional }) => optional ?? []));
  if (leftOut.size === 0) return;
  if (leftOut.size > 1 && leftOut.size <= leftOutLimit) {
    for (const name of leftOut) yield* groupsOf(segments.filter(({ optional }) => optional !== name));
  }
  yield* groupsOf(segments.filter(isRequired));
}

function* groupsOf(segments: readonly Segment[]): Iterable<readonly Segment[]> {
  const known = new Set<number>();
  for (const level of levels) {
    // Without any markup at this level, the groups are those of the level before.
    if (level !== 'all' && !segments.some(({ unit }) => unit[level] !== segments[0]?.unit[level])) continue;
    let from = 0;
    for (let at = 0; at < segments.length; at += 1) {
      const segment = segments[at] as Segment;
      const next = segments[at + 1];
      const isLast = next === undefined || segment.unit[level] !== next.unit[level];
      // A long text is read with what is before it, and then with what follows.
      if (!isLast && !isLong(segment)) continue;
      if (at > from) {
        const key = from * segmentLimit * 2 + at;
        if (!known.has(key)) yield segments.slice(from, at + 1);
        known.add(key);
      }
      from = isLast ? at + 1 : at;
    }
  }
  if (segments.length > 2) yield* pairsOf(segments);
}

/** The two adjacent segments at a turn's boundary, by themselves. */
function* pairsOf(segments: readonly Segment[]): Iterable<readonly Segment[]> {
  for (let at = 1; at < segments.length; at += 1) {
    const one = segments[at - 1] as Segment;
    const other = segments[at] as Segment;
    const isBorder = one.unit.turn !== other.unit.turn;
    if (isBorder && lengthOf(one) + lengthOf(other) >= shortestMatch) yield [one, other];
  }
}

const levels = ['all', 'run', 'turn', 'block'] as const;
