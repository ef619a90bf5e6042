const backslash = 0x5c;

/** What a letter after a backslash stands for, except u; 0 if it is not an escape (RFC 8259, section 7). */
export const shortEscapes = new Uint8Array(256);
for (const [at, letter] of [...'"\\/bfnrt'].entries()) {
  shortEscapes[letter.charCodeAt(0)] = '"\\/\b\f\n\r\t'.charCodeAt(at);
}
/** Whether a byte after a backslash completes a two-byte escape; false at the end of the body. */
export function isShortEscape(byte: number | undefined): boolean {
  return byte !== undefined && (shortEscapes[byte] ?? 0) !== 0;
}

/** The longest text whose escapes are decoded here, in bytes; for longer ones the engine is as fast. */
const longest = 128;
const decoded = Buffer.alloc(longest);

/** Decodes a short JSON string whose escapes are all two characters long. */
export function shortEscapedText(bytes: Buffer, start: number, end: number): string | undefined {
  if (end - start > longest) return undefined;
  let length = 0;
  for (let at = start; at < end; at += 1) {
    let byte = bytes[at] as number;
    if (byte === backslash) {
      at += 1;
      byte = shortEscapes[bytes[at] as number] as number;
      if (byte === 0) return undefined;
    }
    decoded[length] = byte;
    length += 1;
  }
  return decoded.toString('utf8', 0, length);
}

/** The character that a two-byte escape stands for; the letter itself if JSON has no such escape. */
export function decodeShortEscape(letter: string): string {
  const code = letter.charCodeAt(0);
  return isShortEscape(code) ? String.fromCharCode(shortEscapes[code] as number) : letter;
}
