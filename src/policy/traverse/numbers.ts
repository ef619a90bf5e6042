import { integerDigits, type JsonDocument, kinds } from '../../json/json-document.ts';

const point = 0x2e;
const letterE = 0x65;
const zero = 0x30;
const nine = 0x39;

/** Shorter numbers can't contain anything that a detector searches for. */
const minNumber = 1e6;
/** Digits before the point of a number that may be rounded to that. */
const minDigits = 6;
/** No detector looks for more digits. */
const maxDigits = 31;

/**
 * The digits hidden by another notation: 4.111111111111111e15 is a card number too. A model reads the decimal as
 * written, a program the nearest double, so if they differ there are two readings.
 */
export function readDigits(document: JsonDocument, entry: number): readonly string[] {
  if (!mayHideDigits(document, entry)) return [];
  const raw = document.raw(entry);
  const value = Math.abs(Number(raw));
  if (value < minNumber || value >= 10 ** maxDigits) return [];
  const exact = integerDigits(raw, maxDigits);
  const rounded = Number.isInteger(value) ? String(BigInt(value)) : undefined;
  return [...new Set([exact, rounded])].filter((digits) => digits !== undefined);
}

/** Whether a number has an exponent, or a decimal point after at least as many digits as matter; few have. */
function mayHideDigits(document: JsonDocument, entry: number): boolean {
  const { bytes } = document;
  const start = document.start(entry);
  const end = document.end(entry);
  let isLong = false;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] as number;
    if (byte === point) isLong = at - start >= minDigits;
    if ((byte | 0x20) === letterE) return true;
  }
  return isLong;
}

/** Bytes of numbers, `true`, `false` and `null`, of lists of them, and of escaped blanks. */
const stringless = tableOf('0123456789+-.eE,[] truefalsn\\');
const firstOfNumbers = tableOf('-0123456789[ \\');

function tableOf(characters: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const character of characters) table[character.charCodeAt(0)] = 1;
  return table;
}

/**
 * Whether a string may be a JSON number with an exponent, or a list that contains one; prose is ruled out by its first
 * letters. Without an exponent nothing is hidden: the digits are in the string.
 */
export function mayBeNumbers({ bytes }: JsonDocument, start: number, end: number): boolean {
  if (firstOfNumbers[bytes[start] as number] === 0) return false;
  let hasDigits = false;
  let hasExponent = false;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] as number;
    if (stringless[byte] === 0) return false;
    if (byte <= nine && byte >= zero) hasDigits = true;
    else if (hasDigits && (byte | 0x20) === letterE) hasExponent = true;
  }
  return hasExponent;
}

// Begins only outside of a number, so that a long run of digits is read once.
const exponential = /(?<![\d.])\d+(?:\.\d+)?[eE][+-]?\d+/g;

/** A text with its exponents expanded to digits, for JSON that strict parsing refuses. */
export function spellNumbers(text: string): string {
  return text.replace(exponential, (number) => integerDigits(number, maxDigits) ?? number);
}

/** Numbers where text belongs: the value itself, or the part of a list that is or contains one, at any depth. */
export function findNumber(document: JsonDocument, entry: number): number | undefined {
  const kind = document.kind(entry);
  if (kind === kinds.number) return entry;
  if (kind !== kinds.array) return undefined;
  for (let at = entry + 1; at < document.next(entry); at = document.next(at)) {
    if (findNumber(document, at) !== undefined) return at;
  }
  return undefined;
}
