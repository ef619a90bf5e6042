/** Longest text that is worth looking for, in bytes. */
const longest = 24;
/** Slots; a power of two. What meets another text in its slot takes its place. */
const slots = 1_024;

const texts: string[] = new Array(slots).fill('');

const backslash = 0x5c;
/** What the letters after a backslash stand for (RFC 8259, section 7), but for u. */
const meanings = new Uint8Array(256);
for (const [at, letter] of [...'"\\/bfnrt'].entries()) {
  meanings[letter.charCodeAt(0)] = '"\\/\b\f\n\r\t'.charCodeAt(at);
}
/** Longest text whose escapes are undone here, in bytes; the engine is as quick for longer ones. */
const longestEscaped = 128;
const unescaped = Buffer.alloc(longestEscaped);

/**
 * The text of some ASCII bytes. Keys, roles and types are the same few in every body: finding the text that was
 * made of such bytes before takes a fifth of the time that making it again does.
 */
export function shortText(bytes: Buffer, start: number, end: number): string | undefined {
  const length = end - start;
  if (length > longest) return undefined;
  let hash = length;
  let bits = 0;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] as number;
    hash = (Math.imul(hash, 31) + byte) | 0;
    bits |= byte;
  }
  if (bits > 0x7f) return undefined;
  const slot = (hash ^ (hash >>> 10)) & (slots - 1);
  const known = texts[slot] as string;
  if (known.length === length && isText(bytes, start, known)) return known;
  const text = bytes.toString('latin1', start, end);
  texts[slot] = text;
  return text;
}

/** The text of the bytes of a short JSON string whose escapes are all of two characters. */
export function shortEscapedText(bytes: Buffer, start: number, end: number): string | undefined {
  if (end - start > longestEscaped) return undefined;
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
  return shortText(unescaped, 0, length) ?? unescaped.toString('utf8', 0, length);
}

function isText(bytes: Buffer, start: number, text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (bytes[start + at] !== text.charCodeAt(at)) return false;
  return true;
}
