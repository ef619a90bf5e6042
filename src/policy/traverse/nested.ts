import type { JsonDocument } from '../../json/json-document.ts';
import { parseStrictJson } from '../../json/strict-json.ts';

/** Whether a text with this first byte may be a data URL; a quick no for nearly all. */
export function mayBeDataUrl(first: number): boolean {
  return first === 0x64 || first === 0x44 || first === 0x5c || first === 0x20;
}

/** Whether a text with this first byte may be JSON. */
export function mayBeJson(first: number): boolean {
  // The last two begin a no-break space and a byte order mark, which readers skip.
  const isSpace = first === 0x20 || first === 0xc2 || first === 0xef;
  return first === 0x7b || first === 0x5b || first === 0x5c || isSpace;
}

/** Whether a text begins with what JSON with texts in it does; mostly its first character says so. */
export function beginsLikeJson(text: string): boolean {
  const first = text.charCodeAt(0);
  return first === 0x7b || first === 0x5b || /^\s*[[{"]/.test(text);
}

export function endsLikeJson(text: string): boolean {
  return /[\]}]\s*$/.test(text.slice(-64));
}

/**
 * A text that is JSON, as the only member of a document; undefined where it is none, or not strict. Its short texts
 * are looked for among those of the `outer` document.
 */
export function parseNested(text: string, outer?: JsonDocument): JsonDocument | undefined {
  try {
    const document = parseStrictJson(Buffer.from(`{"":${text}}`));
    document.shortTexts = outer?.shortTexts;
    // A text such as `1,"b":2` would read as two members.
    return document.next(2) === document.count ? document : undefined;
  } catch {
    // Not JSON, or not strict: read as text by its escapes instead.
    return undefined;
  }
}
