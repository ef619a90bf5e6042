import type { Detector, Finding } from '../detector.ts';
import { isDigit } from '../text/characters.ts';
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
    numbers.lastIndex = 0;
    for (let match = numbers.exec(text); match !== null; match = numbers.exec(text)) {
      const { index: start, 0: whole, 1: area, 2: separator = '', 3: group, 4: serial } = match;
      const end = start + whole.length;
      if (!isIssued(Number(area), Number(group), Number(serial)) || !standsAlone(text, start, end)) continue;
      const isHyphenated = !['', ' ', '.', '\u00a0'].includes(separator);
      if ((isHyphenated && !isOther(text, start)) || isAnnounced(text, start)) findings.push({ start, end });
    }
    return findings;
  },
};

/** Between the groups a space, hyphen, dot, the no-break space or a typographic hyphen. */
const numbers = /(?<![\w-])(\d{3})([- .\u00a0\u2010-\u2013]?)(\d{2})\2(\d{4})(?![\w-])/g;

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

/** Whether it is no part of a fraction, a path or a row of numbers. */
function standsAlone(text: string, start: number, end: number): boolean {
  const before = text.charCodeAt(start - 1);
  const after = text.charCodeAt(end);
  const isFraction = before === 46 || before === 47 || before === 43;
  const continues = (after === 46 || after === 47) && isDigit(text.charCodeAt(end + 1));
  const comesFrom = before === 32 && isDigit(text.charCodeAt(start - 2)) && text.charCodeAt(start + 3) === 32;
  return !isFraction && !continues && !comesFrom;
}
