// What the bytes inside a JSON string mean: as tables, and as arithmetic on four bytes at once.

const highBits = 0x80808080 | 0;
/** Bytes that need no attention inside a string: no quote, backslash or control character (RFC 8259, section 7). */
export const isPlain = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte !== 0x22 && byte !== 0x5c ? 1 : 0,
);

/**
 * Sets the high bit of each of four bytes that is a quote, a backslash or a control character. Only the lowest set bit
 * is reliable: a match's borrow may set the bit of the byte above it.
 */
export function stopBits(word: number): number {
  // 0x22 ^ 0x02 is 0x20, so the quote lands just above the control characters, with no other byte between.
  const belowQuote = (word ^ 0x02020202) - 0x21212121;
  const isBackslash = (word ^ 0x5c5c5c5c) - 0x01010101;
  return (belowQuote | isBackslash) & ~word & highBits;
}

/** The index of the lowest of four bytes whose high bit is set; there must be one. */
export function firstStop(stops: number): number {
  return (31 - Math.clz32(stops & -stops)) >> 3;
}
