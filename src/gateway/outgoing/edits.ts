import type { JsonDocument } from '../../json/json-document.ts';

/** Bytes of a document that are replaced by a text. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The document's bytes with the edits; what lies in two of them is cut once. */
export function applyEdits({ bytes }: JsonDocument, edits: readonly Edit[]): Buffer {
  const parts: Buffer[] = [];
  let at = 0;
  for (const { start, end, text } of [...edits].sort((one, other) => one.start - other.start)) {
    if (start > at) parts.push(bytes.subarray(at, start));
    if (text !== '') parts.push(Buffer.from(text));
    at = Math.max(at, end);
  }
  parts.push(bytes.subarray(at));
  return Buffer.concat(parts);
}

/** Replaces a member's value, else the member becomes the first one of its object. */
export function memberEdit(
  document: JsonDocument,
  object: number,
  { name, value }: { readonly name: string; readonly value: string },
): Edit {
  const entry = document.member(object, name);
  if (entry !== undefined) return { start: document.start(entry), end: document.end(entry), text: value };
  const start = document.start(object) + 1;
  const isEmpty = document.next(object) === object + 1;
  return { start, end: start, text: `"${name}":${value}${isEmpty ? '' : ','}` };
}
