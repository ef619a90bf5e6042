import type { Detector, Finding } from '../detector.ts';
import { isDigit, toCharacterSet } from '../text/characters.ts';
import { followsWord, wordsBefore } from '../text/context-words.ts';
import { findLongRuns } from '../text/long-runs.ts';

/**
 * Telephone numbers: with a country code anywhere; in unmistakable national formats (North America, France, Japan); any
 * other digits only right after a word such as "phone".
 */
export const phone: Detector = {
  prefilter: { kind: 'regexes', regexes: ['\\b[0-9](?:[ ()+./-]{0,3}[0-9]){6}'] },
  reach: 32,
  folded: true,
  ignoresCase: true,
  find(text) {
    const findings: Finding[] = [];
    for (const run of findLongRuns(text, 7, phoneCharacters)) {
      let digits = 0;
      let firstDigit = -1;
      for (let at = run.end - 1; at >= run.start; at -= 1) {
        if (!isDigit(text.charCodeAt(at))) continue;
        digits += 1;
        firstDigit = at;
      }
      if (digits < 7) continue;
      let found: readonly Finding[] = [];
      // Without any sign between them, digits are no more than a country code and what follows.
      const isPlain = digits === run.end - run.start;
      const candidates = !isPlain ? shapes : text.startsWith('00', run.start) ? [international] : [];
      for (const shape of candidates) found = joinNew(found, findShaped(text, run, shape));
      found = joinNew(found, findAnnounced(text, firstDigit));
      for (const number of found) findings.push(number);
    }
    return findings;
  },
};

const phoneCharacters = toCharacterSet(isDigit, ' ()+-./');

const separator = '[-. \\u00a0\\u202f\\u2010-\\u2013]';
const notBefore = '(?<![\\w.+/-])';
const notAfter = '(?![\\w/(]|[-.\\u2010-\\u2013]\\d)';

interface Shape {
  readonly pattern: RegExp;
  accepts(text: string, number: Finding): boolean;
}

const international: Shape = {
  pattern: /(?<![\w+)\]])(?:\+|\b00)[1-9](?:[-. ()/\u00a0\u202f\u2010-\u2013]{0,2}\d){6,15}/g,
  accepts: isInternational,
};
const shapes: readonly Shape[] = [
  international,
  {
    pattern: new RegExp(
      `${notBefore}(?:1${separator})?(?:\\([2-9]\\d{2}\\) ?|[2-9]\\d{2}${separator})[2-9]\\d{2}${separator}\\d{4}${notAfter}`,
      'g',
    ),
    accepts: isNorthAmerican,
  },
  {
    pattern: new RegExp(`${notBefore}0[1-9](?:([. \\u00a0-])\\d{2})(?:\\1\\d{2}){3}${notAfter}`, 'g'),
    accepts: isFrench,
  },
  {
    pattern: new RegExp(`${notBefore}0\\d{1,3}-\\d{3,4}-\\d{4}${notAfter}`, 'g'),
    accepts: (text, number) =>
      [10, 11].includes(digitsOf(text, number).length) && !isOther(text, number.start),
  },
];
/** Any digits, but only the first ones of a candidate, right after a word that announces a number. */
const announced = /(?<![\w.+-])\(?\d(?:[-. ()/\u00a0\u202f]{0,2}\d){6,14}(?![\w]|[-.]\d)/y;

function findShaped(text: string, run: Finding, { pattern, accepts }: Shape): readonly Finding[] {
  const numbers: Finding[] = [];
  const offset = Math.max(0, run.start - 1);
  const slice = text.slice(offset, run.end + 2);
  pattern.lastIndex = 0;
  for (let match = pattern.exec(slice); match !== null; match = pattern.exec(slice)) {
    const start = offset + match.index;
    const number = { start, end: start + match[0].length };
    if (accepts(text, number)) numbers.push(number);
  }
  return numbers;
}

function findAnnounced(text: string, firstDigit: number): readonly Finding[] {
  // A bracket before it belongs to it.
  for (let start = firstDigit - 1; start <= firstDigit; start += 1) {
    if (start < firstDigit && text.charCodeAt(start) !== 40) continue;
    if (!followsWord(text, start, 10)) continue;
    announced.lastIndex = start;
    if (!announced.test(text)) continue;
    const number = { start, end: announced.lastIndex };
    return isAnnounced(text, number) ? [number] : [];
  }
  return [];
}

/** The numbers found so far, and those of another format that don't overlap them; in the order of the text. */
function joinNew(found: readonly Finding[], others: readonly Finding[]): readonly Finding[] {
  if (found.length === 0 || others.length === 0) return found.length === 0 ? others : found;
  const joined: Finding[] = [];
  let at = 0;
  for (const other of others) {
    for (; at < found.length && (found[at] as Finding).end <= other.start; at += 1) {
      joined.push(found[at] as Finding);
    }
    const next = found[at];
    if (next === undefined || other.end <= next.start) joined.push(other);
  }
  return joined.concat(found.slice(at));
}

function isAnnounced(text: string, { start }: Finding): boolean {
  return followsWord(text, start, 10) && announces.test(wordsBefore(text, start));
}

function digitsOf(text: string, { start, end }: Finding): string {
  return text.slice(start, end).replace(/\D/g, '');
}

function isInternational(text: string, number: Finding): boolean {
  if (/[\w]/.test(text.charAt(number.end))) return false;
  const hasPlus = text.charCodeAt(number.start) === 43;
  if (!hasPlus && !isDialled(text, number) && !isAnnounced(text, number)) return false;
  const written = text.slice(number.start, number.end);
  const digits = written.replace('(0)', '').replace(/\D/g, '').replace(/^00/, '');
  const lengths = nationalLengths(digits);
  if (lengths === undefined) return false;
  const national = digits.length - lengths.codeLength;
  if (national < lengths.min || national > lengths.max) return false;
  return !hasPlus || !isAddedLine(text, number);
}

interface NationalLengths {
  readonly codeLength: number;
  readonly min: number;
  readonly max: number;
}

/**
 * How many digits may follow the country code with which a number begins; undefined if there is no such code. From the
 * ITU's list; ranges cover both land lines and mobiles.
 */
function nationalLengths(digits: string): NationalLengths | undefined {
  for (const codeLength of [1, 2, 3]) {
    const range = plans.get(digits.slice(0, codeLength));
    if (range !== undefined && codeLength <= digits.length) {
      return isWrongNorthAmerican(digits) ? undefined : { codeLength, min: range[0], max: range[1] };
    }
  }
  return undefined;
}

function isWrongNorthAmerican(digits: string): boolean {
  return digits.startsWith('1') && !/^1[2-9]\d\d[2-9]/.test(digits);
}

/** Codes by the least and the most digits that may follow them. */
const table: readonly (readonly [least: number, most: number, codes: string])[] = [
  [7, 10, '46 95'],
  [7, 12, '49'],
  [7, 13, '43'],
  [8, 8, '45 47 53 65'],
  [8, 9, '32 36 51 66'],
  [8, 10, '20 60 64 82'],
  [8, 11, '39'],
  [8, 12, '62'],
  [9, 9, '27 31 33 34 40 41 48 56 61 93 94'],
  [9, 10, '44 63 81 84 92'],
  [10, 10, '1 7 30 52 57 58 90 91 98'],
  [10, 11, '54 55 86'],
  // Codes of three digits; the numbers of these countries have seven to ten digits, those of some small islands fewer.
  [
    6,
    10,
    '211 212 213 216 218 220 221 222 223 224 225 226 227 228 229 230 231 232 233 234 235 236 237 238 239 240 241 242 243 244 245 246 248 249 250 251 252 253 254 255 256 257 258 260 261 262 263 264 265 266 267 268 269 297 298 299 350 351 352 353 354 355 356 357 358 359 370 371 372 373 374 375 376 377 378 380 381 382 383 385 386 387 389 420 421 423 501 502 503 504 505 506 507 509 590 591 592 593 594 595 596 597 598 599 670 673 675 676 677 678 679 680 682 685 687 689 852 853 855 856 880 886 960 961 962 963 964 965 966 967 968 970 971 972 973 974 975 976 977 992 993 994 995 996 998',
  ],
];

const plans: ReadonlyMap<string, readonly [number, number]> = new Map(
  table.flatMap(([least, most, codes]) => codes.split(' ').map((code) => [code, [least, most]] as const)),
);

/** "00" instead of a plus sign: the country code is the first group. Tables of code points look much the same. */
function isDialled(text: string, { start, end }: Finding): boolean {
  let groupEnd = start;
  while (isDigit(text.charCodeAt(groupEnd))) groupEnd += 1;
  const length = groupEnd - start;
  if (length > 5 || !' (-'.includes(text.charAt(groupEnd))) return false;
  const isCodePoint = length === 4 && text.charCodeAt(groupEnd) === 32;
  if (isCodePoint && text.charCodeAt(groupEnd + 1) === 48) return false;
  const written = text.slice(start, end);
  return !(isCodePoint && /^\d{4} \d{4} \d{4}$/.test(written)) && !written.includes('.');
}

/** In a patch, "+" at the beginning of a line marks an added line. */
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
  // Three numbers separated by spaces are a table row as often as a telephone number.
  return !/[ \u00a0\u202f]/.test(written) && !isOther(text, number.start);
}

function isFrench(text: string, number: Finding): boolean {
  const pairs = text.slice(number.start, number.end).split(/\D/).map(Number);
  const rises = pairs.every((pair, index) => index === 0 || pair === (pairs[index - 1] ?? 0) + 1);
  const continues = /^ \d\d(?!\d)/.test(text.slice(number.end, number.end + 4));
  const comesFrom = /\d $/.test(text.slice(Math.max(0, number.start - 2), number.start));
  return !rises && !continues && !comesFrom && !isOther(text, number.start);
}

const announces =
  /(?:phone|\btel|\bcell|mobile|\bfax|\bmob|whats ?app|\bsms|hotline|telefon[eo]?|handy|t[ée]l[ée]phone|portable|tel[ée]fono|m[óo]vil|celular|telem[óo]vel|телефон|тел|電話|携帯|电话|電話番号|电话号码|手机号码?|手机|手機|联系方式|전화|휴대폰|هاتف|फोन|फ़ोन|điện thoại|call (?:me|us|him|her|them|back|on|at)(?: back)?(?: on| at)?)(?:[ _-]?(?:number|num|no|nr|nummer|home|work|bureau|mobile))?[^\p{L}\d]{0,6}(?:is |at |: |= |est |ist |es )?["'(+]{0,2}$/u;

const namesOther =
  /(?:\bpart|sku|\border|invoice|ticket|\bcase|tracking|\bmodel|catalog(?:ue)?|\blot|batch|serial|\bitem|product|\bisbn|\bissn|version|receipt|\bpo|build|rma|\bid|account|range|lines?|ports?|ref(?:erence)?)[ _-]?(?:no|num|number|nr|id|code)?[.:#="' ]{0,4}$/;

function isOther(text: string, start: number): boolean {
  return followsWord(text, start, 5) && namesOther.test(wordsBefore(text, start));
}
