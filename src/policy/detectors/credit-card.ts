import luhn from 'validator/lib/isLuhnNumber.js';
import { isDigit, isHexDigit, isLatinLetter, isWordCharacter } from './characters.ts';
import type { Detector, Finding } from './detector.ts';

interface Group {
  readonly start: number;
  readonly end: number;
  /** What joins this group to the next one; empty where the run ends. */
  readonly separator: string;
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
  find(text) {
    const findings: Finding[] = [];
    // A card has a group of at least four digits, so one character in four is enough to notice it.
    for (let index = 3; index < text.length; index += 4) {
      if (!isDigit(text.charCodeAt(index))) continue;
      const groups = readGroups(text, index);
      findings.push(...cardsAmong(text, groups));
      index = Math.max(index, groups.at(-1)?.end ?? index);
    }
    return findings;
  },
};

/** All digit groups around `index` that hang together by one same separator. */
function readGroups(text: string, index: number): readonly Group[] {
  let start = index;
  while (start > 0 && isDigit(text.charCodeAt(start - 1))) start -= 1;
  start = firstGroupStart(text, start);
  const groups: Group[] = [];
  for (;;) {
    let end = start;
    while (end < text.length && isDigit(text.charCodeAt(end))) end += 1;
    const separator = separatorAt(text, end);
    groups.push({ start, end, separator });
    if (separator === '') return groups;
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

function separatorAt(text: string, end: number): string {
  const isJoint = isSeparator(text.charCodeAt(end)) && isDigit(text.charCodeAt(end + 1));
  return isJoint ? text.charAt(end) : '';
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

const groupings: readonly (readonly number[])[] = [
  [4, 4, 4, 4, 3],
  [4, 4, 4, 4],
  [4, 6, 5],
  [4, 6, 4],
  [19],
  [16],
  [15],
  [14],
];

function cardsAmong(text: string, groups: readonly Group[]): readonly Finding[] {
  const found: Finding[] = [];
  let uncovered = 0;
  let index = 0;
  while (index < groups.length) {
    const size = cardAt(text, groups, index);
    const first = groups[index];
    const last = groups[index + size - 1];
    if (size === 0 || first === undefined || last === undefined) {
      uncovered += 1;
      index += 1;
      continue;
    }
    found.push({ start: first.start, end: last.end });
    index += size;
  }
  // Columns of numbers hold a lucky four now and then; around a card stand an expiry date and a code at most.
  return uncovered <= 3 * found.length ? found : [];
}

/** How many groups from `index` on make up a card; 0 where none does. */
function cardAt(text: string, groups: readonly Group[], index: number): number {
  const grouping = groupings.find(
    (sizes) => fits(groups, index, sizes) && isCard(text, groups, index, sizes),
  );
  return grouping?.length ?? 0;
}

function fits(groups: readonly Group[], index: number, sizes: readonly number[]): boolean {
  const separator = groups[index]?.separator;
  return sizes.every((size, offset) => {
    const group = groups[index + offset];
    if (group === undefined || group.end - group.start !== size) return false;
    return offset === sizes.length - 1 || group.separator === separator;
  });
}

function isCard(text: string, groups: readonly Group[], index: number, sizes: readonly number[]): boolean {
  const members = groups.slice(index, index + sizes.length);
  const start = members[0]?.start ?? 0;
  const end = members.at(-1)?.end ?? 0;
  const written = members.map((group) => text.slice(group.start, group.end));
  const digits = written.join('');
  if (!hasKnownIssuer(digits) || !standsAlone(text, start, end)) return false;
  return luhn.default(digits) && !isCounting(written);
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

function hasKnownIssuer(digits: string): boolean {
  const prefix = Number(digits.slice(0, 4));
  return issuers.some(
    (range) => prefix >= range.from && prefix <= range.to && range.lengths.includes(digits.length),
  );
}
