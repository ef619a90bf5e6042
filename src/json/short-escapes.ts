const backslash = 0x5c;

/** What the letter behind a backslash stands for, but for u; 0 where it is no escape (RFC 8259, section 7). */
export const shortEscapes = new Uint8Array(256);
for (const [at, letter] of [...'"\\/bfnrt'].entries()) {
  shortEscapes[letter.charCodeAt(0)] = '"\\/\b\f\n\r\t'.charCodeAt(at);
}
/** Whether a byte behind a backslash makes an escape of two; none does at the end of the body. */
export function isShortEscape(byte: number | undefined): boolean {
  return byte !== undefined && (shortEscapes[byte] ?? 0) !== 0;
}

/** Longest text whose escapes are decoded here, in bytes; the engine is as quick for longer ones. */
const longest = 128;
const decoded = Buffer.alloc(longest);

/** The text of the bytes of a JSON string that is short and whose escapes are all of two characters. */
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

/** The character that an escape of two stands for; the letter itself where JSON knows none. */
export function decodeShortEscape(letter: string): string {
  const code = letter.charCodeAt(0);
  return isShortEscape(code) ? String.fromCharCode(shortEscapes[code] as number) : letter;
}
