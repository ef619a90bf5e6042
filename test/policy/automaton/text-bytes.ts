import type { TextBytes } from '../../../src/policy/automaton/code-points.ts';

/** A text as a scanner takes it, given as it stands in a JSON string. */
export function escapedText(bytes: Buffer, start = 0, end = bytes.length): TextBytes {
  return { bytes, words: new DataView(bytes.buffer, bytes.byteOffset, bytes.length), start, end };
}

/** A text as a scanner takes it, with no more escapes than it needs. */
export function plainText(text: string): TextBytes {
  return escapedText(Buffer.from(text.replaceAll('\\', '\\\\')));
}
