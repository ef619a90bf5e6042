/** Bytes of a text that are read at once, in four parts; the rest of what a text has is read one by one. */
const longestBlock = 4096;
export const shortestBlock = 384;
/** How far a part may begin after its place, for a space to begin after. */
const spaceReach = 64;
const space = 0x20;

/** Where parts of a text begin, and where the automata stand after what was read of each. */
export interface Parts {
  readonly starts: Int32Array;
  readonly offsets: Int32Array;
  /** Bytes that were read of each part. */
  length: number;
}

export function createParts(): Parts {
  return { starts: new Int32Array(4), offsets: new Int32Array(4), length: 0 };
}

interface Range {
  readonly start: number;
  readonly end: number;
  /** Where the automata stand at its start. */
  readonly offset: number;
  /** Where they may stand after a space. */
  readonly guess: number;
}

/**
 * Reads the beginning of a text in four parts at once: one look-up waits for the one before it, but not for those of
 * other parts, so that four take hardly longer than one. The first part begins where the automata stand; the others
 * begin after a space, where a guess stands in for what comes before, which must be proved afterwards. Stops at
 * the first byte of any part that a plain look-up has no answer for. False where the text has too few spaces.
 */
export function readParts(
  table: Int32Array,
  { bytes, columns }: { readonly bytes: Uint8Array; readonly columns: Uint8Array },
  { start, end, offset, guess }: Range,
  into: Parts,
): boolean {
  const size = Math.min(end - start, longestBlock) >> 2;
  const second = afterSpace(bytes, start + size);
  const third = afterSpace(bytes, start + size * 2);
  const fourth = afterSpace(bytes, start + size * 3);
  if (second < 0 || third < 0 || fourth < 0) return false;
  const length = Math.min(second - start, third - second, fourth - third, start + size * 4 - fourth);
  let one = offset;
  let two = guess;
  let three = guess;
  let four = guess;
  let read = 0;
  for (; read < length; read += 1) {
    const next1 = table[one + (columns[bytes[start + read] as number] as number)] as number;
    const next2 = table[two + (columns[bytes[second + read] as number] as number)] as number;
    const next3 = table[three + (columns[bytes[third + read] as number] as number)] as number;
    const next4 = table[four + (columns[bytes[fourth + read] as number] as number)] as number;
    if ((next1 | next2 | next3 | next4) < 0) break;
    one = next1;
    two = next2;
    three = next3;
    four = next4;
  }
  const { starts, offsets } = into;
  starts[0] = start;
  starts[1] = second;
  starts[2] = third;
  starts[3] = fourth;
  offsets[0] = one;
  offsets[1] = two;
  offsets[2] = three;
  offsets[3] = four;
  into.length = read;
  return true;
}

/** The next place after a space, which is no part of an escape or of a longer character; -1 where none is near. */
function afterSpace(bytes: Uint8Array, from: number): number {
  for (let at = from; at < from + spaceReach; at += 1) if (bytes[at] === space) return at + 1;
  return -1;
}
