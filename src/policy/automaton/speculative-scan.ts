/** Bytes of a text that are read together, in four parts; the rest is read one by one. */
const longestBlock = 4096;
export const shortestBlock = 384;
export const partCount = 4;
/** Bytes that are read of each part at a time. */
export const wordBytes = 4;
/** How far a part may begin after its place, for a space to begin after. */
const spaceReach = 64;
const space = 0x20;
const highBits = 0x80808080 | 0;
const asciiMask = 0x7f;

/** Where parts of a text begin, and where the automata stand after what was read of each. */
export interface Parts {
  readonly starts: Int32Array;
  readonly offsets: Int32Array;
  /** Bytes that were read of each part. */
  length: number;
  /** Whether that is less than could be, because a plain look-up had no answer. */
  isStopped: boolean;
}

export function createParts(): Parts {
  return {
    starts: new Int32Array(partCount),
    offsets: new Int32Array(partCount),
    length: 0,
    isStopped: false,
  };
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
 * Reads the beginning of a text in four parts in parallel: a lookup waits for the one before it, but not for those of other
 * parts, so four take hardly longer than one. The first part begins in the automata's current state; the others begin
 * after a space in a guessed state, which must be verified afterwards. Stops before the first word of any part that plain
 * lookups can't handle. False if the text has too few spaces.
 */
export function readParts(
  table: Int32Array,
  { bytes, words }: { readonly bytes: Uint8Array; readonly words: DataView },
  { start, end, offset, guess }: Range,
  into: Parts,
): boolean {
  const size = Math.floor(Math.min(end - start, longestBlock) / partCount);
  const second = afterSpace(bytes, start + size);
  const third = afterSpace(bytes, start + size * 2);
  const fourth = afterSpace(bytes, start + size * 3);
  if (second < 0 || third < 0 || fourth < 0) return false;
  const length = Math.min(second - start, third - second, fourth - third, start + size * partCount - fourth);
  // One position and the distances of the others need fewer registers than a position for each.
  const toSecond = second - start;
  const toThird = third - start;
  const toFourth = fourth - start;
  const lastWord = start + length - wordBytes;
  let one = offset;
  let two = guess;
  let three = guess;
  let four = guess;
  let at = start;
  for (; at <= lastWord; at += wordBytes) {
    const word1 = words.getInt32(at, true);
    const word2 = words.getInt32(at + toSecond, true);
    const word3 = words.getInt32(at + toThird, true);
    const word4 = words.getInt32(at + toFourth, true);
    if (((word1 | word2 | word3 | word4) & highBits) !== 0) break;
    let next1 = table[one + (word1 & asciiMask)] as number;
    let next2 = table[two + (word2 & asciiMask)] as number;
    let next3 = table[three + (word3 & asciiMask)] as number;
    let next4 = table[four + (word4 & asciiMask)] as number;
    if ((next1 | next2 | next3 | next4) < 0) break;
    next1 = table[next1 + ((word1 >> 8) & asciiMask)] as number;
    next2 = table[next2 + ((word2 >> 8) & asciiMask)] as number;
    next3 = table[next3 + ((word3 >> 8) & asciiMask)] as number;
    next4 = table[next4 + ((word4 >> 8) & asciiMask)] as number;
    if ((next1 | next2 | next3 | next4) < 0) break;
    next1 = table[next1 + ((word1 >> 16) & asciiMask)] as number;
    next2 = table[next2 + ((word2 >> 16) & asciiMask)] as number;
    next3 = table[next3 + ((word3 >> 16) & asciiMask)] as number;
    next4 = table[next4 + ((word4 >> 16) & asciiMask)] as number;
    if ((next1 | next2 | next3 | next4) < 0) break;
    next1 = table[next1 + (word1 >> 24)] as number;
    next2 = table[next2 + (word2 >> 24)] as number;
    next3 = table[next3 + (word3 >> 24)] as number;
    next4 = table[next4 + (word4 >> 24)] as number;
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
  into.length = at - start;
  into.isStopped = at <= lastWord;
  return true;
}

/** The next place after a space, which is no part of an escape or of a longer character; -1 if none is near. */
function afterSpace(bytes: Uint8Array, from: number): number {
  for (let at = from; at < from + spaceReach; at += 1) if (bytes[at] === space) return at + 1;
  return -1;
}
