import luhn from 'validator/lib/isLuhnNumber.js';
import { isDigit, isHexDigit, isLatinLetter, isWordCharacter } from './characters.ts';
import type { Detector, Finding } from './detector.ts';

/** Groups of digits, as columns: texts may be full of them, and objects for each would cost more than reading. */
interface Groups {
  readonly starts: number[];
  readonly ends: number[];
  /** The character that joins a group to the next one; 0 where the run ends. */
  readonly separators: number[];
  /** So many of them; what follows is left over from a run before. */
  count: number;
}

/**
 * Payment card numbers: a known issuer, its length, printed in one piece or in the issuer's groups with one
 * separator throughout, and a right check digit. Validator's own issuer table is not used: its pattern for
 * Mastercard lacks an anchor, so any number that begins with 51 passes, however long.
 */
export const creditCard: Detector = {
  prefilter: { kind: 'digits', atLeast: 14 },
  reach: 23,
  folded: true,
  ignoresCase: true,
  find(text) {
    const findings: Finding[] = [];
    const groups: Groups = { starts: [], ends: [], separators: [], count: 0 };
    // A card has a group of at least four digits, so one character in four is enough to notice it.
    for (let index = 3; index < text.length; index += 4) {
      if (!isDigit(text.charCodeAt(index))) continue;
      const end = readGroups(text, index, groups);
      for (const card of cardsAmong(text, groups)) findings.push(card);
      index = Math.max(index, end);
    }
    return findings;
  },
};

/** All digit groups around `index` that hang together by one separator each; returns where the last one ends. */
function readGroups(text: string, index: number, groups: Groups): number {
  const { starts, ends, separators } = groups;
  let start = index;
  while (start > 0 && isDigit(text.charCodeAt(start - 1))) start -= 1;
  start = firstGroupStart(text, start);
  let count = 0;
  for (;;) {
    let end = start;
    while (end < text.length && isDigit(text.charCodeAt(end))) end += 1;
    const separator = separatorAt(text, end);
    starts[count] = start;
    ends[count] = end;
    separators[count] = separator;
    count += 1;
    if (separator === 0) {
      groups.count = count;
      return end;
    }
    start = end + 1;
  }
}

/** Steps back over the short group that the search in strides of four may have passed. */
function firstGroupStart(text: string, start: number): number {
  let first = start;
  if (first < 2 || !isSeparator(text.charCodeAt(first - 1))) return start;
  first -= 1;
  while (first > 0 && start - first <= 7 && isDigit(text.charCodeAt(first - 1))) first -= 1;
  return start - first <= 7 && isDigit(text.charCodeAt(first)) ? first : start;
}

function separatorAt(text: string, end: number): number {
  const code = text.charCodeAt(end);
  return isSeparator(code) && isDigit(text.charCodeAt(end + 1)) ? code : 0;
}

/** Space, hyphen, dot, the no-break spaces and the typographic hyphens. */
function isSeparator(code: number): boolean {
  return (
    code === 32 ||
    code === 45 ||
    code === 46 ||
    code === 0xa0 ||
    code === 0x202f ||
    code === 0x2009 ||
    (code >= 0x2010 && code <= 0x2013)
  );
}

interface Grouping {
  readonly sizes: readonly number[];
  readonly digits: number;
}

const printed: readonly Grouping[] = [
  { sizes: [4, 4, 4, 4, 3], digits: 19 },
  { sizes: [4, 4, 4, 4], digits: 16 },
  { sizes: [4, 6, 5], digits: 15 },
  { sizes: [4, 6, 4], digits: 14 },
  { sizes: [19], digits: 19 },
  { sizes: [16], digits: 16 },
  { sizes: [15], digits: 15 },
  { sizes: [14], digits: 14 },
];
/** The groups in which cards are printed, by the length of the first. */
const groupings = Array.from({ length: 20 }, (_, length) =>
  printed.filter(({ sizes }) => sizes[0] === length),
);
const noFindings: readonly Finding[] = [];

function cardsAmong(text: string, groups: Groups): readonly Finding[] {
  const { starts, ends, count } = groups;
  let found: Finding[] | undefined;
  let uncovered = 0;
  let index = 0;
  while (index < count) {
    const size = cardAt(text, groups, index);
    if (size === 0) {
      uncovered += 1;
      index += 1;
      continue;
    }
    found ??= [];
    found.push({ start: starts[index] as number, end: ends[index + size - 1] as number });
    index += size;
  }
  // Columns of numbers hold a lucky four now and then; around a card stand an expiry date and a code at most.
  return found !== undefined && uncovered <= 3 * found.length ? found : noFindings;
}

/** How many groups from `index` on make up a card; 0 where none does. */
function cardAt(text: string, groups: Groups, index: number): number {
  const start = groups.starts[index] as number;
  const candidates = groupings[(groups.ends[index] as number) - start];
  if (candidates === undefined) return 0;
  const lengths = lengthsByPrefix[prefixAt(text, start)] as number;
  if (lengths === 0) return 0;
  for (const { sizes, digits } of candidates) {
    if ((lengths & (1 << digits)) === 0 || !fits(groups, index, sizes)) continue;
    if (isCard(text, groups, index, sizes.length)) return sizes.length;
  }
  return 0;
}

function prefixAt(text: string, start: number): number {
  let prefix = 0;
  for (let at = start; at < start + 4; at += 1) prefix = prefix * 10 + text.charCodeAt(at) - 48;
  return prefix;
}

function fits({ starts, ends, separators, count }: Groups, index: number, sizes: readonly number[]): boolean {
  if (index + sizes.length > count) return false;
  const separator = separators[index];
  for (let offset = 1; offset < sizes.length; offset += 1) {
    const at = index + offset;
    if ((ends[at] as number) - (starts[at] as number) !== sizes[offset]) return false;
    if (separators[at - 1] !== separator) return false;
  }
  return true;
}

/** Whether so many groups from `index` on, of a card's sizes, are one. */
function isCard(text: string, groups: Groups, index: number, count: number): boolean {
  const { starts, ends } = groups;
  if (!hasCheckDigit(text, groups, index, count)) return false;
  if (!standsAlone(text, starts[index] as number, ends[index + count - 1] as number)) return false;
  const written: string[] = [];
  for (let at = index; at < index + count; at += 1) written.push(text.slice(starts[at], ends[at]));
  return luhn.default(written.join('')) && !isCounting(written);
}

/** Validator checks it too, at many times the cost, which nine numbers of ten are spared. */
function hasCheckDigit(text: string, { starts, ends }: Groups, index: number, count: number): boolean {
  let sum = 0;
  let length = 0;
  for (let group = index + count - 1; group >= index; group -= 1) {
    const start = starts[group] as number;
    for (let at = (ends[group] as number) - 1; at >= start; at -= 1) {
      const digit = text.charCodeAt(at) - 48;
      sum += (length & 1) === 0 ? digit : digit * 2 - (digit > 4 ? 9 : 0);
      length += 1;
    }
  }
  return sum % 10 === 0;
}

/** Four numbers of which each is one more than the last are a stretch of a table. */
function isCounting(groups: readonly string[]): boolean {
  return groups.length > 1 && groups.every((group, index) => Number(group) === Number(groups[0]) + index);
}

/** Whether the number is not merely the digits of something longer: a hash, a fraction, a name. */
function standsAlone(text: string, start: number, end: number): boolean {
  const after = text.charCodeAt(end);
  const before = text.charCodeAt(start - 1);
  if (isWordCharacter(after) || before === 46 || before === 95) return false;
  if (isSeparator(after) && isHexChunk(text, end + 1, 1)) return false;
  if (isSeparator(before) && isHexChunk(text, start - 2, -1)) return false;
  return !isLatinLetter(before) || isPlainWordBefore(text, start);
}

/** Hex digits with letters among them, as in the parts of a UUID and in tables of code points. */
function isHexChunk(text: string, from: number, step: 1 | -1): boolean {
  let letters = 0;
  let length = 0;
  for (let index = from; length < 13 && isHexDigit(text.charCodeAt(index)); index += step) {
    length += 1;
    if (isLatinLetter(text.charCodeAt(index))) letters += 1;
  }
  return letters > 0 && letters < length && !isLatinLetter(text.charCodeAt(from + step * length));
}

/** "card4111…" is a card after a word; "9f4111…" is part of a hash. */
function isPlainWordBefore(text: string, end: number): boolean {
  let start = end;
  let isHex = true;
  while (end - start < 20 && isLatinLetter(text.charCodeAt(start - 1))) {
    start -= 1;
    if (!isHexDigit(text.charCodeAt(start))) isHex = false;
  }
  return !isHex && !isWordCharacter(text.charCodeAt(start - 1));
}

interface IssuerRange {
  readonly from: number;
  readonly to: number;
  readonly lengths: readonly number[];
}

/** First four digits of the issuers in use, as the networks publish them. */
const issuers: readonly IssuerRange[] = [
  { from: 4000, to: 4999, lengths: [16, 19] },
  { from: 5100, to: 5599, lengths: [16] },
  { from: 2221, to: 2720, lengths: [16] },
  { from: 3400, to: 3499, lengths: [15] },
  { from: 3700, to: 3799, lengths: [15] },
  { from: 3000, to: 3059, lengths: [14] },
  { from: 3600, to: 3699, lengths: [14] },
  { from: 3800, to: 3999, lengths: [14] },
  { from: 6011, to: 6011, lengths: [16, 19] },
  { from: 6440, to: 6599, lengths: [16, 19] },
  { from: 3528, to: 3589, lengths: [16, 19] },
  { from: 6200, to: 6299, lengths: [16, 19] },
  { from: 8100, to: 8171, lengths: [16, 19] },
  { from: 2200, to: 2204, lengths: [16, 19] },
  { from: 5018, to: 5018, lengths: [16, 19] },
  { from: 5020, to: 5020, lengths: [16, 19] },
  { from: 5038, to: 5038, lengths: [16, 19] },
  { from: 6304, to: 6304, lengths: [16, 19] },
  { from: 6759, to: 6763, lengths: [16, 19] },
];

/** For the first four digits of a number the lengths of cards that begin so, as bits. */
const lengthsByPrefix = new Uint32Array(10_000);
for (const { from, to, lengths } of issuers) {
  for (let prefix = from; prefix <= to; prefix += 1) {
    for (const length of lengths)
      lengthsByPrefix[prefix] = (lengthsByPrefix[prefix] as number) | (1 << length);
  }
}
