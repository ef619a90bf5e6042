import { type JsonDocument, kinds } from '../../json/json-document.ts';

/** A list of objects, and the text that their `bytes` make together. */
export interface ByteList {
  readonly entry: number;
  readonly text: string;
}

/** The texts that an answer's `logprobs` repeat as numbers: `[{bytes: [104, 105]}, …]`, at any depth. */
export function byteLists(document: JsonDocument, entry: number): readonly ByteList[] {
  const kind = document.kind(entry);
  if (kind !== kinds.array && kind !== kinds.object) return [];
  const values = valuesOf(document, entry, kind === kinds.object);
  const inside = values.flatMap((value) => byteLists(document, value));
  if (kind === kinds.object) return inside;
  const bytes = values.flatMap((value) => bytesOf(document, value));
  return bytes.length === 0 ? inside : [{ entry, text: Buffer.from(bytes).toString('utf8') }, ...inside];
}

function valuesOf(document: JsonDocument, container: number, isObject: boolean): readonly number[] {
  const values: number[] = [];
  const shift = isObject ? 1 : 0;
  for (let at = container + 1; at < document.next(container); at = document.next(at + shift))
    values.push(at + shift);
  return values;
}

function bytesOf(document: JsonDocument, object: number): readonly number[] {
  const list = document.kind(object) === kinds.object ? document.member(object, 'bytes') : undefined;
  if (list === undefined || document.kind(list) !== kinds.array) return [];
  return valuesOf(document, list, false).map((value) => document.number(value));
}
