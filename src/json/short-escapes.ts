/** What a letter after a backslash stands for, except u; 0 if it is not an escape (RFC 8259, section 7). */
export const shortEscapes = new Uint8Array(256);
for (const [at, letter] of [...'"\\/bfnrt'].entries()) {
  shortEscapes[letter.charCodeAt(0)] = '"\\/\b\f\n\r\t'.charCodeAt(at);
}
/** Whether a byte after a backslash completes a two-byte escape; false at the end of the body. */
export function isShortEscape(byte: number | undefined): boolean {
  return byte !== undefined && (shortEscapes[byte] ?? 0) !== 0;
}

/** The character that a two-byte escape stands for; the letter itself if JSON has no such escape. */
export function decodeShortEscape(letter: string): string {
  const code = letter.charCodeAt(0);
  return isShortEscape(code) ? String.fromCharCode(shortEscapes[code] as number) : letter;
}
