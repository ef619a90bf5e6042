const backslash = 0x5c;
const letterU = 0x75;
const zero = 0x30;
const nine = 0x39;

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
const maxLength = 128;
const decoded = Buffer.alloc(maxLength);

/** Decodes a short JSON string; undefined if it has escaped surrogates, which the engine's parser decodes. */
export function shortEscapedText(bytes: Buffer, start: number, end: number): string | undefined {
  if (end - start > maxLength) return undefined;
  let length = 0;
  let at = start;
  while (at < end) {
    const byte = bytes[at] as number;
    if (byte !== backslash) {
      decoded[length] = byte;
      length += 1;
      at += 1;
    } else if (bytes[at + 1] === letterU) {
      const unit = hexUnit(bytes, at + 2);
      if (unit >= 0xd800 && unit <= 0xdfff) return undefined;
      length = writeUtf8(unit, length);
      at += 6;
    } else {
      decoded[length] = shortEscapes[bytes[at + 1] as number] as number;
      length += 1;
      at += 2;
    }
  }
  return decoded.toString('utf8', 0, length);
}

/** The UTF-16 unit that four hex digits stand for. */
function hexUnit(bytes: Buffer, start: number): number {
  let unit = 0;
  for (let at = start; at < start + 4; at += 1) {
    const byte = bytes[at] as number;
    unit = unit * 16 + (byte <= nine ? byte - zero : (byte | 0x20) - 0x57);
  }
  return unit;
}

/** Writes a character of at most three bytes, which is fewer than its escape has; returns where it ends. */
function writeUtf8(unit: number, at: number): number {
  if (unit < 0x80) {
    decoded[at] = unit;
    return at + 1;
  }
  if (unit < 0x800) {
    decoded[at] = 0xc0 | (unit >> 6);
    decoded[at + 1] = 0x80 | (unit & 0x3f);
    return at + 2;
  }
  decoded[at] = 0xe0 | (unit >> 12);
  decoded[at + 1] = 0x80 | ((unit >> 6) & 0x3f);
  decoded[at + 2] = 0x80 | (unit & 0x3f);
  return at + 3;
}

/** The character that a two-byte escape stands for; the letter itself if JSON has no such escape. */
export function decodeShortEscape(letter: string): string {
  const code = letter.charCodeAt(0);
  return isShortEscape(code) ? String.fromCharCode(shortEscapes[code] as number) : letter;
}
