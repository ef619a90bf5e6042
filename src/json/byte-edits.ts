import { type JsonDocument, kinds } from './json-document.ts';

/** Bytes that are replaced by a text. */
export interface ByteEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The bytes with the edits, in any order; what lies in two of them is cut once. */
export function applyEdits(bytes: Buffer, edits: readonly ByteEdit[]): Buffer {
  if (edits.length === 0) return bytes;
  const ordered = inOrder(edits);
  // Copied into one buffer: a body may have tens of thousands of edits, and a buffer for each would be slower.
  const result = Buffer.allocUnsafe(lengthWith(ordered, bytes.length));
  let written = 0;
  let at = 0;
  for (const { start, end, text } of ordered) {
    if (start > at) written += bytes.copy(result, written, at, start);
    written += result.write(text, written);
    at = Math.max(at, end);
  }
  bytes.copy(result, written, at);
  return result;
}

function lengthWith(ordered: readonly ByteEdit[], before: number): number {
  let length = 0;
  let at = 0;
  for (const { start, end, text } of ordered) {
    length += Math.max(start - at, 0) + Buffer.byteLength(text);
    at = Math.max(at, end);
  }
  return length + before - at;
}

/** By where they begin; they usually are in order already. */
function inOrder(edits: readonly ByteEdit[]): readonly ByteEdit[] {
  for (let at = 1; at < edits.length; at += 1) {
    if ((edits[at - 1] as ByteEdit).start <= (edits[at] as ByteEdit).start) continue;
    return edits.toSorted((one, other) => one.start - other.start);
  }
  return edits;
}

/** The document's bytes with other texts for some of its strings, by their entries; entries of another kind stay. */
export function replaceTexts(document: JsonDocument, texts: ReadonlyMap<number, string>): Buffer {
  const edits: ByteEdit[] = [];
  for (const [entry, text] of texts) {
    if (document.kind(entry) === kinds.string) edits.push(textEdit(document, entry, text));
  }
  return applyEdits(document.bytes, edits);
}

/** Gives a string another text. */
export function textEdit(document: JsonDocument, entry: number, text: string): ByteEdit {
  return { start: document.start(entry), end: document.end(entry), text: JSON.stringify(text).slice(1, -1) };
}

/** Replaces a member's value, or adds the member as the first one of its object. */
export function memberEdit(
  document: JsonDocument,
  object: number,
  { name, value }: { readonly name: string; readonly value: string },
): ByteEdit {
  const entry = document.member(object, name);
  if (entry !== undefined) return valueEdit(document, entry, value);
  return membersEdit(document, object, [{ name, value }])[0] as ByteEdit; // one member, one edit
}

/** Replaces a value of any kind by another, as JSON. */
export function valueEdit(document: JsonDocument, entry: number, value: string): ByteEdit {
  return { start: startOf(document, entry), end: endOf(document, entry), text: value };
}

/** Adds members as the first ones of an object, of whose values those in `cut` are to be removed. */
export function membersEdit(
  document: JsonDocument,
  object: number,
  added: readonly { readonly name: string; readonly value: string }[],
  cut: ReadonlySet<number> = noEntries,
): readonly ByteEdit[] {
  if (added.length === 0) return [];
  const start = document.start(object) + 1;
  let kept = 0;
  for (let key = object + 1; key < document.next(object); key = document.next(key + 1)) {
    if (!cut.has(key + 1)) kept += 1;
  }
  const text = added.map(({ name, value }) => `${JSON.stringify(name)}:${value}`).join(',');
  return [{ start, end: start, text: kept === 0 ? text : `${text},` }];
}

const noEntries: ReadonlySet<number> = new Set();

/**
 * Cuts members of an object (given by their keys) or elements of an array out, each with the comma before the next one, or
 * with the one before it if it is the last.
 */
export function removals(
  document: JsonDocument,
  container: number,
  isCut: (child: number) => boolean,
): ByteEdit[] {
  const edits: ByteEdit[] = [];
  const isObject = document.kind(container) === kinds.object;
  let keptUntil = document.start(container) + 1;
  for (let child = container + 1; child < document.next(container); ) {
    const value = isObject ? child + 1 : child;
    const next = document.next(value);
    const isLast = next >= document.next(container);
    if (!isCut(child)) keptUntil = endOf(document, value);
    else if (!isLast) edits.push({ start: startOf(document, child), end: startOf(document, next), text: '' });
    else edits.push({ start: keptUntil, end: endOf(document, value), text: '' });
    child = next;
  }
  return edits;
}

// A string's quotes are not in its range.
function startOf(document: JsonDocument, entry: number): number {
  return document.start(entry) - quoteOf(document, entry);
}

function endOf(document: JsonDocument, entry: number): number {
  return document.end(entry) + quoteOf(document, entry);
}

function quoteOf(document: JsonDocument, entry: number): number {
  return document.kind(entry) === kinds.string ? 1 : 0;
}
