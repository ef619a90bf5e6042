import type { Detector, Finding } from '../detector.ts';
import {
  codeAt,
  isDigit,
  isHexDigit,
  isIn,
  isLatinLetter,
  isWordCharacter,
  toCharacterSet,
} from '../text/characters.ts';
import { hasCards, isIssued } from './card-issuers.ts';

/**
 * Payment card numbers: a known issuer, one of its lengths, in one piece, in the issuer's groups or digit by digit with
 * the same separator throughout, and a valid check digit. Validator's card check is not used: its pattern for
 * Mastercard lacks an anchor, so any number that begins with 51 passes, however long.
 */
export const creditCard: Detector = {
  // Cards of fewer than fourteen digits (all Maestro) count only in groups: in one piece they are bar codes.
  prefilter: {
    kind: 'regexes',
    regexes: [
      '[0-9](?:[ ./_,|*:\u00b7-]?[0-9]){13}',
      '(?:50(?:18|20|38)|5893|6304|67(?:59|6[123]))[ ./_,|*:\u00b7-][0-9]{4}[ ./_,|*:\u00b7-][0-9]{4}',
    ],
  },
  reach: 37,
  folded: true,
  ignoresCase: true,
  find(text) {
    const findings: Finding[] = [];
    // Every card has a group of at least four digits, or a digit at every other place: two of four places are enough.
    for (let index = 3; index < text.length; index += 4) {
      const at = isDigit(codeAt(text, index)) ? index : index - 1;
      if (isDigit(codeAt(text, at))) index = Math.max(index, readGroups(text, at, findings));
    }
    return findings;
  },
};

/**
 * Adds the cards among the digit groups around `index` that are joined by single separators; returns where the last
 * group ends. Linear: each group is read once, and each possible beginning of a card costs at most two passes over its
 * 37 characters.
 */
function readGroups(text: string, index: number, findings: Finding[]): number {
  const before = findings.length;
  let start = index;
  while (start > 0 && isDigit(codeAt(text, start - 1))) start -= 1;
  start = firstGroupStart(text, start);
  let uncovered = 0;
  for (;;) {
    let end = start;
    while (end < text.length && isDigit(text.charCodeAt(end))) end += 1;
    // Most single digits are in names and hashes, where no separator follows.
    const isAlone = end - start === 1 && !isSeparator(codeAt(text, end));
    const candidates = isAlone ? undefined : groupings[end - start];
    const card = candidates === undefined ? undefined : cardAt(text, start, candidates);
    if (card === undefined) uncovered += 1;
    else {
      findings.push(card);
      end = card.end;
    }
    if (!isSeparator(codeAt(text, end)) || !isDigit(codeAt(text, end + 1))) {
      // Columns of numbers contain a valid card now and then; a real one is next to an expiry date and a code at most.
      const found = findings.length - before;
      if (found > 0 && uncovered > 3 * found) findings.length = before;
      return end;
    }
    start = end + 1;
  }
}

/** Steps back over a short group, or two single digits, that the search in steps of four may have skipped. */
function firstGroupStart(text: string, start: number): number {
  let first = start;
  while (start - first < 4 && isSeparator(codeAt(text, first - 1)) && isSingleDigit(text, first - 2))
    first -= 2;
  if (first < start) return first;
  if (first < 2 || !isSeparator(codeAt(text, first - 1))) return start;
  first -= 1;
  while (first > 0 && start - first <= 7 && isDigit(codeAt(text, first - 1))) first -= 1;
  return start - first <= 7 && isDigit(codeAt(text, first)) ? first : start;
}

function isSingleDigit(text: string, at: number): boolean {
  return isDigit(codeAt(text, at)) && !isDigit(codeAt(text, at - 1));
}

/** Separators that also stand in lists, paths, times and addresses: a card between them is all there is. */
const listSeparators = new Set(Array.from('/_,|*:·', (each) => each.charCodeAt(0)));
const asciiSeparators = toCharacterSet(
  (code) => ' -.'.includes(String.fromCharCode(code)) || listSeparators.has(code),
);

/** Space, hyphen, dot, the no-break spaces, the typographic hyphens, and those of lists. */
function isSeparator(code: number): boolean {
  return (
    isIn(asciiSeparators, code) ||
    code === 0xb7 ||
    code === 0xa0 ||
    code === 0x202f ||
    code === 0x2009 ||
    (code >= 0x2010 && code <= 0x2013)
  );
}

/** One printed form of cards. */
interface Grouping {
  readonly digits: number;
  /** Characters, separators included. */
  readonly length: number;
  /** Where the separators are. */
  readonly gaps: readonly number[];
}

const printed: readonly (readonly number[])[] = [
  [4, 4, 4, 4, 3],
  [4, 4, 4, 4, 2],
  [4, 4, 4, 4, 1],
  [4, 4, 4, 4],
  [4, 6, 5],
  [4, 5, 6],
  [4, 6, 4],
  [4, 4, 5],
  [4, 4, 4],
  [6, 13],
  [19],
  [18],
  [17],
  [16],
  [15],
  [14],
  ...[14, 15, 16, 19].map((digits) => Array.from({ length: digits }, () => 1)),
];
/** The groups in which cards are printed, by the length of the first. */
const groupings = Array.from({ length: 20 }, (_, length) => {
  const same = printed.filter(([first]) => first === length);
  return same.length === 0 ? undefined : same.map(toGrouping);
});

function toGrouping(sizes: readonly number[]): Grouping {
  const digits = sizes.reduce((sum, size) => sum + size, 0);
  const gaps = sizes.slice(1).map((_, at) => sizes.slice(0, at + 1).reduce((sum, size) => sum + size, at));
  return { digits, length: digits + gaps.length, gaps };
}

/** The card that begins with this group, whose size is the first of some grouping. */
function cardAt(text: string, start: number, candidates: readonly Grouping[]): Finding | undefined {
  const prefix = prefixAt(text, start, candidates[0]?.gaps[0] === 1 ? 2 : 1);
  if (!hasCards(prefix)) return undefined;
  for (const grouping of candidates) {
    if (!isIssued(prefix, grouping) || !isGrouped(text, start, grouping)) continue;
    if (!hasCheckDigit(text, start, grouping)) continue;
    const card = { start, end: start + grouping.length };
    if (standsAlone(text, card.start, card.end) && !isCounting(text, start, grouping)) return card;
  }
  return undefined;
}

/** The first four digits, which are `step` characters apart. */
function prefixAt(text: string, start: number, step: number): number {
  let prefix = 0;
  for (let at = start; at < start + 4 * step; at += step) prefix = prefix * 10 + codeAt(text, at) - 48;
  return prefix;
}

/** Whether identical separators are where they should be, and no digit follows the last place. */
function isGrouped(text: string, start: number, { length, gaps }: Grouping): boolean {
  if (isDigit(codeAt(text, start + length))) return false;
  const [first] = gaps;
  if (first === undefined) return true;
  const separator = codeAt(text, start + first);
  if (!isSeparator(separator)) return false;
  for (const gap of gaps) if (codeAt(text, start + gap) !== separator) return false;
  if (first > 1 && !listSeparators.has(separator)) return true;
  const goesOn = (at: number, digit: number) =>
    codeAt(text, at) === separator && isDigit(codeAt(text, digit));
  return !goesOn(start - 1, start - 2) && !goesOn(start + length, start + length + 1);
}

/** Whether everything else is a digit, and the last one the check digit (ISO/IEC 7812-1, annex B). */
function hasCheckDigit(text: string, start: number, { digits, length }: Grouping): boolean {
  let sum = 0;
  let count = 0;
  for (let at = start + length - 1; at >= start; at -= 1) {
    const digit = codeAt(text, at) - 48;
    if (!(digit >= 0 && digit <= 9)) continue;
    sum += (count & 1) === 0 ? digit : digit * 2 - (digit > 4 ? 9 : 0);
    count += 1;
  }
  return count === digits && sum % 10 === 0;
}

/** Four consecutive numbers are part of a table. */
function isCounting(text: string, start: number, { length, gaps }: Grouping): boolean {
  if (gaps.length === 0) return false;
  const groups = text.slice(start, start + length).split(/\D/);
  return groups.every((group, index) => Number(group) === Number(groups[0]) + index);
}

/** Whether the number stands by itself and is not part of something longer: a hash, a fraction, a name. */
function standsAlone(text: string, start: number, end: number): boolean {
  const after = codeAt(text, end);
  const before = codeAt(text, start - 1);
  if (isWordCharacter(after) || before === 46 || before === 95) return false;
  if (isSeparator(after) && isHexChunk(text, end + 1, 1)) return false;
  if (isSeparator(before) && isHexChunk(text, start - 2, -1)) return false;
  return !isLatinLetter(before) || isPlainWordBefore(text, start);
}

/** Whether they are hex digits with letters among them, as in the parts of a UUID and in tables of code points. */
function isHexChunk(text: string, from: number, step: 1 | -1): boolean {
  let letters = 0;
  let length = 0;
  for (let index = from; length < 13 && isHexDigit(codeAt(text, index)); index += step) {
    length += 1;
    if (isLatinLetter(codeAt(text, index))) letters += 1;
  }
  return letters > 0 && letters < length && !isLatinLetter(codeAt(text, from + step * length));
}

/** "card4111…" is a card after a word; "9f4111…" is part of a hash. */
function isPlainWordBefore(text: string, end: number): boolean {
  let start = end;
  let isHex = true;
  while (end - start < 20 && isLatinLetter(codeAt(text, start - 1))) {
    start -= 1;
    if (!isHexDigit(codeAt(text, start))) isHex = false;
  }
  return !isHex && !isWordCharacter(codeAt(text, start - 1));
}
