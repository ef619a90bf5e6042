import { type JsonDocument, kinds } from '../../json/json-document.ts';

/** The value where it is a number, or the part of a list that is one or holds one, however deep. */
export function findNumber(document: JsonDocument, entry: number): number | undefined {
  const kind = document.kind(entry);
  if (kind === kinds.number) return entry;
  if (kind !== kinds.array) return undefined;
  for (let at = entry + 1; at < document.next(entry); at = document.next(at)) {
    if (findNumber(document, at) !== undefined) return at;
  }
  return undefined;
}
