import { isDigit, toCharacterSet } from './characters.ts';
import { followsWord, wordsBefore } from './context-words.ts';
import type { Detector, Finding } from './detector.ts';
import { findLongRuns } from './long-runs.ts';
import { nationalLengths } from './phone-plans.ts';

/**
 * Telephone numbers: with a country code anywhere; the national forms that are unmistakable (North America,
 * France, Japan); any other digits only right after a word that announces a number.
 */
export const phone: Detector = {
  prefilter: { kind: 'digits', atLeast: 7 },
  reach: 32,
  folded: true,
  ignoresCase: true,
  find(text) {
    const findings: Finding[] = [];
    for (const run of findLongRuns(text, 7, phoneCharacters)) {
      const marks = marksOf(text, run);
      if (marks.digits >= 7) findings.push(...numbersWithin(text, run, marks));
    }
    return findings;
  },
};

const phoneCharacters = toCharacterSet(
  (code) => isDigit(code) || ' ()+-./'.includes(String.fromCharCode(code)),
);

/** What a stretch holds, found in one look: most shapes are ruled out by it. */
interface Marks {
  readonly digits: number;
  readonly firstDigit: number;
  /** A plus sign, or two zeros. */
  readonly hasCountryCode: boolean;
  /** A group of three digits and one of four after a single character. */
  readonly hasThreeFour: boolean;
  /** A zero after something that is no digit, and two pairs of digits in a row. */
  readonly hasPairs: boolean;
  /** The same zero, and a group of four digits after a hyphen. */
  readonly hasHyphens: boolean;
}

function marksOf(text: string, { start, end }: Finding): Marks {
  let digits = 0;
  let firstDigit = -1;
  let hasCountryCode = false;
  let hasThreeFour = false;
  let hasZero = false;
  let hasPair = false;
  let hasHyphen = false;
  let length = 0;
  let lengthBefore = 0;
  for (let at = start; at <= end; at += 1) {
    const code = at < end ? text.charCodeAt(at) : 0;
    if (isDigit(code)) {
      if (length === 0 && code === 48) hasZero = true;
      if (length > 0 && code === 48 && text.charCodeAt(at - 1) === 48) hasCountryCode = true;
      if (digits === 0) firstDigit = at;
      digits += 1;
      length += 1;
      continue;
    }
    if (code === 43) hasCountryCode = true;
    if (length === 4 && lengthBefore === 3) hasThreeFour = true;
    if (length === 2 && lengthBefore === 2) hasPair = true;
    if (length === 4 && text.charCodeAt(at - 5) === 45) hasHyphen = true;
    // Two characters between groups leave a group of none.
    lengthBefore = length;
    length = 0;
  }
  return {
    digits,
    firstDigit,
    hasCountryCode,
    hasThreeFour,
    hasPairs: hasZero && hasPair,
    hasHyphens: hasZero && hasHyphen,
  };
}

const separator = '[-. \\u00a0\\u202f\\u2010-\\u2013]';
const notBefore = '(?<![\\w.+/-])';
const notAfter = '(?![\\w/(]|[-.\\u2010-\\u2013]\\d)';

interface Shape {
  readonly pattern: RegExp;
  /** Whether a stretch with these marks may hold it. */
  isPossible(marks: Marks): boolean;
  accepts(text: string, number: Finding): boolean;
}

const shapes: readonly Shape[] = [
  {
    pattern: /(?<![\w+)\]])(?:\+|\b00)[1-9](?:[-. ()/\u00a0\u202f\u2010-\u2013]{0,2}\d){6,15}/g,
    isPossible: ({ hasCountryCode }) => hasCountryCode,
    accepts: isInternational,
  },
  {
    pattern: new RegExp(
      `${notBefore}(?:1${separator})?(?:\\([2-9]\\d{2}\\) ?|[2-9]\\d{2}${separator})[2-9]\\d{2}${separator}\\d{4}${notAfter}`,
      'g',
    ),
    isPossible: ({ hasThreeFour }) => hasThreeFour,
    accepts: isNorthAmerican,
  },
  {
    pattern: new RegExp(`${notBefore}0[1-9](?:([. \\u00a0-])\\d{2})(?:\\1\\d{2}){3}${notAfter}`, 'g'),
    isPossible: ({ hasPairs }) => hasPairs,
    accepts: isFrench,
  },
  {
    pattern: new RegExp(`${notBefore}0\\d{1,3}-\\d{3,4}-\\d{4}${notAfter}`, 'g'),
    isPossible: ({ hasHyphens }) => hasHyphens,
    accepts: (text, number) => hasDigits(text, number, [10, 11]) && !isOther(text, number.start),
  },
];
/** Any digits; only right after a word that announces them, so only those that come first in a stretch. */
const announced = /(?<![\w.+-])\(?\d(?:[-. ()/\u00a0\u202f]{0,2}\d){6,14}(?![\w]|[-.]\d)/y;

function numbersWithin(text: string, run: Finding, marks: Marks): readonly Finding[] {
  const findings: Finding[] = [];
  const add = (number: Finding, accepts: Shape['accepts']) => {
    const isNew = !findings.some((finding) => finding.start < number.end && number.start < finding.end);
    if (isNew && accepts(text, number)) findings.push(number);
  };
  const offset = Math.max(0, run.start - 1);
  let slice: string | undefined;
  for (const { pattern, isPossible, accepts } of shapes) {
    if (!isPossible(marks)) continue;
    slice ??= text.slice(offset, run.end + 2);
    pattern.lastIndex = 0;
    for (let match = pattern.exec(slice); match !== null; match = pattern.exec(slice)) {
      const start = offset + match.index;
      add({ start, end: start + match[0].length }, accepts);
    }
  }
  const first = announcedAt(text, marks.firstDigit);
  if (first !== undefined) add(first, isAnnounced);
  return findings;
}

function announcedAt(text: string, firstDigit: number): Finding | undefined {
  // A bracket before it belongs to it.
  for (let start = firstDigit - 1; start <= firstDigit; start += 1) {
    if (start < firstDigit && text.charCodeAt(start) !== 40) continue;
    announced.lastIndex = start;
    if (announced.test(text)) return { start, end: announced.lastIndex };
  }
  return undefined;
}

function isAnnounced(text: string, { start }: Finding): boolean {
  return followsWord(text, start, 10) && announces.test(wordsBefore(text, start));
}

function digitsOf(text: string, { start, end }: Finding): string {
  return text.slice(start, end).replace(/\D/g, '');
}

function hasDigits(text: string, number: Finding, counts: readonly number[]): boolean {
  return counts.includes(digitsOf(text, number).length);
}

function isInternational(text: string, number: Finding): boolean {
  if (/[\w]/.test(text.charAt(number.end))) return false;
  const written = text.slice(number.start, number.end);
  const hasPlus = written.startsWith('+');
  if (!hasPlus && !isDialled(written) && !isAnnounced(text, number)) return false;
  const digits = written.replace('(0)', '').replace(/\D/g, '').replace(/^00/, '');
  const lengths = nationalLengths(digits);
  if (lengths === undefined) return false;
  const national = digits.length - lengths.codeLength;
  if (national < lengths.least || national > lengths.most) return false;
  return !hasPlus || !isAddedLine(text, number);
}

/** With "00" for the plus sign: the country code is the first group. Tables of code points look much like it. */
function isDialled(written: string): boolean {
  return (
    /^00[1-9]\d{0,2}[ (-]/.test(written) &&
    !/^00\d\d (?:0|\d{4} \d{4}$)/.test(written) &&
    !written.includes('.')
  );
}

/** In a patch, "+" at the beginning of a line says that the line was added. */
function isAddedLine(text: string, { start, end }: Finding): boolean {
  if (start > 0 && text.charAt(start - 1) !== '\n') return false;
  const lineBefore = text.lastIndexOf('\n', start - 2) + 1;
  const isMark = (index: number) => /^(?:[-+@](?!\d)| )/.test(text.slice(index, index + 2));
  return (start > 0 && isMark(lineBefore)) || (text.charAt(end) === '\n' && isMark(end + 1));
}

function isNorthAmerican(text: string, number: Finding): boolean {
  const digits = digitsOf(text, number).slice(-10);
  if (/^.11|^...11|^(.)\1{9}$/.test(digits)) return false;
  const written = text.slice(number.start, number.end);
  if (written.includes('(') || isAnnounced(text, number)) return true;
  // Three numbers with spaces between them are a row of a table as often as a telephone number.
  return !/[ \u00a0\u202f]/.test(written) && !isOther(text, number.start);
}

function isFrench(text: string, number: Finding): boolean {
  const pairs = text.slice(number.start, number.end).split(/\D/).map(Number);
  const rises = pairs.every((pair, index) => index === 0 || pair === (pairs[index - 1] ?? 0) + 1);
  const goesOn = /^ \d\d(?!\d)/.test(text.slice(number.end, number.end + 4));
  const comesFrom = /\d $/.test(text.slice(Math.max(0, number.start - 2), number.start));
  return !rises && !goesOn && !comesFrom && !isOther(text, number.start);
}

const announces =
  /(?:phone|\btel|\bcell|mobile|\bfax|\bmob|whats ?app|\bsms|hotline|telefon[eo]?|handy|t[ée]l[ée]phone|portable|tel[ée]fono|m[óo]vil|celular|telem[óo]vel|телефон|тел|電話|携帯|电话|電話番号|电话号码|手机号码?|手机|手機|联系方式|전화|휴대폰|هاتف|फोन|फ़ोन|điện thoại|call (?:me|us|him|her|them|back|on|at)(?: back)?(?: on| at)?)(?:[ _-]?(?:number|num|no|nr|nummer|home|work|bureau|mobile))?[^\p{L}\d]{0,6}(?:is |at |: |= |est |ist |es )?["'(+]{0,2}$/u;

const namesOther =
  /(?:\bpart|sku|\border|invoice|ticket|\bcase|tracking|\bmodel|catalog(?:ue)?|\blot|batch|serial|\bitem|product|\bisbn|\bissn|version|receipt|\bpo|build|rma|\bid|account|range|lines?|ports?|ref(?:erence)?)[ _-]?(?:no|num|number|nr|id|code)?[.:#="' ]{0,4}$/;

function isOther(text: string, start: number): boolean {
  return followsWord(text, start, 5) && namesOther.test(wordsBefore(text, start));
}
