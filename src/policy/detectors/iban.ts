import iban from 'validator/lib/isIBAN.js';
import { isDigit, isLatinLetter, isWordCharacter } from './characters.ts';
import type { Detector, Finding } from './detector.ts';

const longest = 34;
const shortest = 15;

/**
 * International bank account numbers: the country's length and structure and the check digits, as validator
 * knows them; in one piece or in groups of four with one separator throughout.
 */
export const ibanNumber: Detector = {
  prefilter: { kind: 'digits', atLeast: 7 },
  reach: longest + 9,
  folded: true,
  find(text) {
    const findings: Finding[] = [];
    // Two letters and two digits open it, so every second character tells whether one may be near.
    for (let index = 2; index < text.length; index += 2) {
      if (!isDigit(text.charCodeAt(index))) continue;
      const finding = ibanFrom(text, index - 2) ?? ibanFrom(text, index - 3);
      if (finding === undefined) continue;
      findings.push(finding);
      index = finding.end;
    }
    return findings;
  },
};

function ibanFrom(text: string, start: number): Finding | undefined {
  if (start < 0 || !isOpening(text, start)) return undefined;
  for (const end of groupEnds(text, start).toReversed()) {
    if (iban.default(text.slice(start, end).replace(/[^A-Za-z0-9]/g, ''))) return { start, end };
  }
  return undefined;
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
 * The places where the number may end. Groups are of four and only the last is shorter, but a word of up to
 * four letters may follow ("DE89 … 00 for me"), so each group's end is a candidate; the country's length
 * decides.
 */
function groupEnds(text: string, start: number): readonly number[] {
  const separator = text.charAt(start + 4);
  if (!isSeparator(separator)) return wholeEnd(text, start);
  const ends: number[] = [];
  let index = start;
  let count = 0;
  while (count < longest) {
    let size = 0;
    while (size < 4 && isAlphanumeric(text.charCodeAt(index + size))) size += 1;
    if (size === 0 || isWordCharacter(text.charCodeAt(index + size))) break;
    index += size;
    count += size;
    if (count >= shortest) ends.push(index);
    if (size < 4 || text.charAt(index) !== separator) break;
    index += 1;
  }
  return ends;
}

function wholeEnd(text: string, start: number): readonly number[] {
  let end = start;
  while (end - start <= longest && isAlphanumeric(text.charCodeAt(end))) end += 1;
  const length = end - start;
  return length >= shortest && length <= longest && text.charCodeAt(end) !== 95 ? [end] : [];
}

function isSeparator(character: string): boolean {
  return character !== '' && ' -.\u00a0\u202f'.includes(character);
}

function isAlphanumeric(code: number): boolean {
  return isDigit(code) || isLatinLetter(code);
}
