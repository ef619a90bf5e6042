import iban from 'validator/lib/isIBAN.js';
import type { Detector, Finding } from '../detector.ts';
import { isAlphanumeric, isDigit, isLatinLetter, isWordCharacter } from '../text/characters.ts';

// The module is CommonJS; loaders differ in whether they unwrap its default export.
const isIban = 'default' in iban ? iban.default : iban;
const checked = { confidence: 'certain', why: 'check digits' } as const;
const maxLength = 34;
const minLength = 15;
/** What the sum is multiplied by, modulo 97, when two letters and two digits (six decimal places) are appended. */
const firstPower = 1_000_000 % 97;

/**
 * International bank account numbers with the country's length, structure and check digits, as validator knows them; in
 * one piece or in groups of four with the same separator throughout.
 */
export const ibanNumber: Detector = {
  prefilter: {
    kind: 'regexes',
    regexes: ['[a-z]{2}[0-9]{2}(?:[a-z0-9]{11}|[ .-][a-z0-9]{4}[ .-][a-z0-9]{4}[ .-][a-z0-9]{3})'],
  },
  reach: maxLength + 9,
  folded: true,
  ignoresCase: true,
  find(text) {
    const findings: Finding[] = [];
    // It begins with two letters and two digits, so testing every second character is enough.
    for (let index = 2; index < text.length; index += 2) {
      if (!isDigit(text.charCodeAt(index))) continue;
      const start = isLatinLetter(text.charCodeAt(index - 1)) ? index - 2 : index - 3;
      const finding = isOpening(text, start) ? ibanFrom(text, start) : undefined;
      if (finding === undefined) continue;
      findings.push(finding);
      index = finding.end;
    }
    return findings;
  },
};

function ibanFrom(text: string, start: number): Finding | undefined {
  const separator = text.charCodeAt(start + 4);
  return isSeparator(separator) ? groupedFrom(text, start, separator) : wholeFrom(text, start);
}

function isOpening(text: string, start: number): boolean {
  return (
    isLatinLetter(text.charCodeAt(start)) &&
    isLatinLetter(text.charCodeAt(start + 1)) &&
    isDigit(text.charCodeAt(start + 2)) &&
    isDigit(text.charCodeAt(start + 3)) &&
    !isWordCharacter(text.charCodeAt(start - 1))
  );
}

/**
 * Groups have four characters and only the last is shorter, but a word of up to four letters may follow ("DE89 … 00 for
 * me"), so the number may end with any group; the longest valid one counts.
 */
function groupedFrom(text: string, start: number, separator: number): Finding | undefined {
  const first = appendToRemainder(0, text, { start, end: start + 4 });
  let found: Finding | undefined;
  let remainder = 0;
  let length = 0;
  let index = start;
  while (length < maxLength) {
    const end = groupEnd(text, index);
    if (end === index || isWordCharacter(text.charCodeAt(end))) break;
    if (length > 0) remainder = appendToRemainder(remainder, text, { start: index, end });
    length += end - index;
    const isChecked = length >= minLength && (remainder * firstPower + first) % 97 === 1;
    if (isChecked && isValid(text, start, end)) found = { start, end, ...checked };
    if (end - index < 4 || text.charCodeAt(end) !== separator) break;
    index = end + 1;
  }
  return found;
}

function groupEnd(text: string, start: number): number {
  let end = start;
  while (end - start < 4 && isAlphanumeric(text.charCodeAt(end))) end += 1;
  return end;
}

function wholeFrom(text: string, start: number): Finding | undefined {
  let end = start;
  while (end - start <= maxLength && isAlphanumeric(text.charCodeAt(end))) end += 1;
  const length = end - start;
  if (length < minLength || length > maxLength || text.charCodeAt(end) === 95) return undefined;
  const remainder = appendToRemainder(0, text, { start: start + 4, end });
  const isChecked = appendToRemainder(remainder, text, { start, end: start + 4 }) === 1;
  return isChecked && isValid(text, start, end) ? { start, end, ...checked } : undefined;
}

/**
 * Validator checks the digits too, but far more slowly: called for each possible beginning, it would take most of a
 * second for a megabyte of them.
 */
function isValid(text: string, start: number, end: number): boolean {
  return isIban(text.slice(start, end).replace(/[^A-Za-z0-9]/g, ''));
}

/** Continues the standard's sum, modulo 97, in which letters count from ten. */
function appendToRemainder(before: number, text: string, { start, end }: Finding): number {
  let remainder = before;
  for (let index = start; index < end; index += 1) {
    const code = text.charCodeAt(index);
    remainder = isDigit(code) ? (remainder * 10 + code - 48) % 97 : (remainder * 100 + (code | 32) - 87) % 97;
  }
  return remainder;
}

/** Space, hyphen, dot and the no-break spaces. */
function isSeparator(code: number): boolean {
  return code === 32 || code === 45 || code === 46 || code === 0xa0 || code === 0x202f;
}
