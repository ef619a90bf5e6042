import { shortEscapes } from '../../json/short-escapes.ts';

/** A text with its JSON escapes undone, and where each of its bytes came from. */
export interface Unescaped {
  readonly text: Buffer;
  /** Where each byte's original spelling begins; one more entry holds the length of the original. */
  readonly origins: Uint32Array;
}

const backslash = 0x5c;
const letterU = 0x75;

/** Decodes the escapes of ASCII characters, in JSON however formatted; other escapes stay as they are. */
export function unescapeJson(json: Buffer): Unescaped {
  const text = Buffer.allocUnsafe(json.length);
  const origins = new Uint32Array(json.length + 1);
  let length = 0;
  for (let at = 0; at < json.length; ) {
    const { code, size } =
      json[at] === backslash ? readEscape(json, at) : { code: json[at] as number, size: 1 };
    text[length] = code;
    origins[length] = at;
    length += 1;
    at += size;
  }
  origins[length] = json.length;
  return { text: text.subarray(0, length), origins };
}

function readEscape(json: Buffer, at: number): { code: number; size: number } {
  const letter = json[at + 1] ?? 0;
  const simple = shortEscapes[letter] ?? 0;
  if (simple !== 0) return { code: simple, size: 2 };
  const digits = json.toString('latin1', at + 2, at + 6);
  const code =
    letter === letterU && /^00[0-7][\da-f]$/i.test(digits) ? Number.parseInt(digits, 16) : undefined;
  return code === undefined ? { code: backslash, size: 1 } : { code, size: 6 };
}
