const backslash = 0x5c;
/** What the letters after a backslash stand for (RFC 8259, section 7), but for u. */
const meanings = new Uint8Array(256);
for (const [at, letter] of [...'"\\/bfnrt'].entries()) {
  meanings[letter.charCodeAt(0)] = '"\\/\b\f\n\r\t'.charCodeAt(at);
}
/** Longest text whose escapes are undone here, in bytes; the engine is as quick for longer ones. */
const longest = 128;
const unescaped = Buffer.alloc(longest);

/** The text of the bytes of a JSON string that is short and whose escapes are all of two characters. */
export function shortEscapedText(bytes: Buffer, start: number, end: number): string | undefined {
  if (end - start > longest) return undefined;
  let length = 0;
  for (let at = start; at < end; at += 1) {
    let byte = bytes[at] as number;
    if (byte === backslash) {
      at += 1;
      byte = meanings[bytes[at] as number] as number;
      if (byte === 0) return undefined;
    }
    unescaped[length] = byte;
    length += 1;
  }
  return unescaped.toString('utf8', 0, length);
}
