import { type JsonDocument, kinds } from '../../json/json-document.ts';

const point = 0x2e;
const letterE = 0x65;

/** Smaller numbers hide nothing that anybody looks for. */
const leastNumber = 1e6;
/** Digits before the point of a number that may be rounded to that. */
const leastDigits = 6;

/** The digits of a number that hides them: 4.111111111111111e15 is a card number too. */
export function readDigits(document: JsonDocument, entry: number): string | undefined {
  if (!mayHideDigits(document, entry)) return undefined;
  const value = Number(document.raw(entry));
  if (!Number.isInteger(value) || Math.abs(value) < leastNumber || Math.abs(value) > 1e30) return undefined;
  return String(BigInt(value));
}

/** Whether a number is written with an exponent, or with a point behind as many digits as are worth it; most are not. */
function mayHideDigits(document: JsonDocument, entry: number): boolean {
  const { bytes } = document;
  const start = document.start(entry);
  const end = document.end(entry);
  let isLong = false;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] as number;
    if (byte === point) isLong = at - start >= leastDigits;
    if ((byte | 0x20) === letterE) return true;
  }
  return isLong;
}

/** Where text belongs: the value that is a number, or the part of a list that is one or holds one, however deep. */
export function findNumber(document: JsonDocument, entry: number): number | undefined {
  const kind = document.kind(entry);
  if (kind === kinds.number) return entry;
  if (kind !== kinds.array) return undefined;
  for (let at = entry + 1; at < document.next(entry); at = document.next(at)) {
    if (findNumber(document, at) !== undefined) return at;
  }
  return undefined;
}
