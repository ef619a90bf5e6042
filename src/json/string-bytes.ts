// What the bytes inside a JSON string mean, as tables and as arithmetic on four of them.

const highBits = 0x80808080 | 0;
/** Bytes of which a string can have any number: no quote, no escape, no control character (RFC 8259, section 7). */
export const isPlain = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte !== 0x22 && byte !== 0x5c ? 1 : 0,
);

/**
 * The high bits of those of four bytes that are a quote, a backslash or a control character. Only the lowest
 * is certain: a byte above a found one may be found by its borrow.
 */
export function stopBits(word: number): number {
  // 0x22 ^ 0x02 is 0x20, so the quote lies just above the control characters, and no other byte comes between.
  const belowQuote = (word ^ 0x02020202) - 0x21212121;
  const isBackslash = (word ^ 0x5c5c5c5c) - 0x01010101;
  return (belowQuote | isBackslash) & ~word & highBits;
}

/** Which of four bytes is the lowest that stops; there must be one. */
export function firstStop(stops: number): number {
  return (31 - Math.clz32(stops & -stops)) >> 3;
}
