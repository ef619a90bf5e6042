import type { Detector, Finding } from '../detector.ts';
import { isDigit, isKeyCharacter } from '../text/characters.ts';
import { followsWord, letterBefore, wordsBefore } from '../text/context-words.ts';

/**
 * US social security numbers: 3-2-4 digits with hyphens; with spaces, dots or no separator only after a word for them,
 * because nine digits can be anything. Numbers that are never issued are left out.
 */
export const usSsn: Detector = {
  prefilter: { kind: 'regexes', regexes: ['[0-9]{3}[ .-]?[0-9]{2}[ .-]?[0-9]{4}'] },
  reach: 11,
  folded: true,
  ignoresCase: true,
  find(text) {
    const findings: Finding[] = [];
    // The last group has four digits, so testing every fourth character is enough.
    for (let index = 3; index < text.length; index += 4) {
      if (!isDigit(text.charCodeAt(index))) continue;
      const end = endOfDigits(text, index);
      const finding = numberEndingAt(text, end, index);
      if (finding !== undefined) findings.push(finding);
      index = Math.max(index, end - 1);
    }
    return findings;
  },
};

function endOfDigits(text: string, index: number): number {
  let end = index;
  while (end < text.length && isDigit(text.charCodeAt(end))) end += 1;
  return end;
}

function numberEndingAt(text: string, end: number, seen: number): Finding | undefined {
  if (end - seen > 9) return undefined;
  const separator = text.charCodeAt(end - 5);
  return isDigit(separator) ? plainEndingAt(text, end) : groupedEndingAt(text, end, separator);
}

function groupedEndingAt(text: string, end: number, separator: number): Finding | undefined {
  const start = end - 11;
  if (start < 0 || !isSeparator(separator) || text.charCodeAt(end - 8) !== separator) return undefined;
  const area = numberIn(text, start, end - 8);
  const group = numberIn(text, end - 7, end - 5);
  const serial = numberIn(text, end - 4, end);
  if (!isIssued(area, group, serial) || !standsAlone(text, start, end)) return undefined;
  const isHyphenated = separator !== 32 && separator !== 46 && separator !== 0xa0;
  const isMeant = (isHyphenated && !isOther(text, start)) || isAnnounced(text, start);
  return isMeant ? { start, end } : undefined;
}

function plainEndingAt(text: string, end: number): Finding | undefined {
  const start = end - 9;
  if (start < 0) return undefined;
  const area = numberIn(text, start, end - 6);
  const group = numberIn(text, end - 6, end - 4);
  const serial = numberIn(text, end - 4, end);
  if (!isIssued(area, group, serial) || !standsAlone(text, start, end)) return undefined;
  return isAnnounced(text, start) ? { start, end } : undefined;
}

/** Space, hyphen, dot, the no-break space and the typographic hyphens. */
function isSeparator(code: number): boolean {
  return code === 32 || code === 45 || code === 46 || code === 0xa0 || (code >= 0x2010 && code <= 0x2013);
}

/** The number that some digits make; NaN if other characters are among them. */
function numberIn(text: string, start: number, end: number): number {
  let number = 0;
  for (let at = start; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (!isDigit(code)) return Number.NaN;
    number = number * 10 + code - 48;
  }
  return number;
}

/** The issuer's rules, and the two numbers it voided after they had been printed in public. */
function isIssued(area: number, group: number, serial: number): boolean {
  if (!(area > 0 && area < 900 && area !== 666 && group > 0 && serial > 0)) return false;
  const number = (area * 100 + group) * 10_000 + serial;
  // A repeated digit is a multiple of this.
  return number !== 78_051_120 && number !== 219_099_999 && number % 111_111_111 !== 0;
}

function isAnnounced(text: string, start: number): boolean {
  return letterBefore(text, start, 30) !== -1 && announces.test(wordsBefore(text, start));
}

function isOther(text: string, start: number): boolean {
  return followsWord(text, start, 5) && namesOther.test(wordsBefore(text, start));
}

const announces =
  /(?:ssn|social[ _-]?security|sozialversicherung|seguro social|s[ée]curit[ée] sociale|tax ?payer id|\btin\b|\bitin\b|社会保障|社会保险)[^\d]{0,30}$/;

/** Words that announce a number of another kind in the same shape. */
const namesOther =
  /(?:\bpart|sku|\border|invoice|ticket|\bcase|tracking|\bmodel|catalog(?:ue)?|\blot|batch|serial|\bitem|product|\bisbn|\bcas|version|phone|\btel|\bfax|\bp\/n|\bref(?:erence)?|receipt|\bpo|build|rma)[ _-]?(?:no|num|number|nr|id|code)?[.:#="' ]{0,4}$/;

function standsAlone(text: string, start: number, end: number): boolean {
  const before = text.charCodeAt(start - 1);
  const after = text.charCodeAt(end);
  if (isKeyCharacter(before) || isKeyCharacter(after)) return false;
  const isFraction = before === 46 || before === 47 || before === 43;
  const continues = (after === 46 || after === 32 || after === 47) && isDigit(text.charCodeAt(end + 1));
  const comesFrom = before === 32 && isDigit(text.charCodeAt(start - 2)) && text.charCodeAt(start + 3) === 32;
  return !isFraction && !(continues && after !== 32) && !comesFrom;
}
