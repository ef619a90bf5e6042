import { isDigit, isKeyCharacter } from './characters.ts';
import { wordsBefore } from './context-words.ts';
import type { Detector, Finding } from './detector.ts';

/**
 * US social security numbers: 3-2-4 digits with hyphens; with spaces, dots or in one piece only after words
 * that announce one, because nine digits alone are anything. Numbers that are never issued are left out.
 */
export const usSsn: Detector = {
  prefilter: { kind: 'digits', atLeast: 9 },
  reach: 11,
  folded: true,
  find(text) {
    const findings: Finding[] = [];
    // The last group has four digits, so one character in four is enough to notice it.
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
  const finding = groupedEndingAt(text, end) ?? plainEndingAt(text, end);
  return finding !== undefined && standsAlone(text, finding) ? finding : undefined;
}

function groupedEndingAt(text: string, end: number): Finding | undefined {
  const start = end - 11;
  if (start < 0) return undefined;
  const parts = /^(\d{3})([- .\u2010-\u2013\u00a0])(\d{2})\2(\d{4})$/.exec(text.slice(start, end));
  if (parts === null) return undefined;
  const [, area = '', separator = '', group = '', serial = ''] = parts;
  if (!isIssued(area, group, serial)) return undefined;
  const words = wordsBefore(text, start);
  const isHyphenated = separator !== ' ' && separator !== '.' && separator !== '\u00a0';
  const isMeant = isHyphenated ? !namesOther.test(words) || announces.test(words) : announces.test(words);
  return isMeant ? { start, end } : undefined;
}

function plainEndingAt(text: string, end: number): Finding | undefined {
  const start = end - 9;
  if (start < 0) return undefined;
  const parts = /^(\d{3})(\d{2})(\d{4})$/.exec(text.slice(start, end));
  if (parts === null) return undefined;
  const [, area = '', group = '', serial = ''] = parts;
  if (!isIssued(area, group, serial) || !announces.test(wordsBefore(text, start))) return undefined;
  return { start, end };
}

/** The rules of the administration, and the two numbers it voided after they were printed in public. */
function isIssued(area: string, group: string, serial: string): boolean {
  if (area === '000' || area === '666' || area >= '900') return false;
  if (group === '00' || serial === '0000') return false;
  const number = area + group + serial;
  return number !== '078051120' && number !== '219099999' && new Set(number).size > 1;
}

const announces =
  /(?:ssn|social[ _-]?security|sozialversicherung|seguro social|s[ée]curit[ée] sociale|tax ?payer id|\btin\b|\bitin\b|社会保障|社会保险)[^\d]{0,30}$/;

/** Words that announce a number of another kind in the same shape. */
const namesOther =
  /(?:\bpart|sku|\border|invoice|ticket|\bcase|tracking|\bmodel|catalog(?:ue)?|\blot|batch|serial|\bitem|product|\bisbn|\bcas|version|phone|\btel|\bfax|\bp\/n|\bref(?:erence)?|receipt|\bpo|build|rma)[ _-]?(?:no|num|number|nr|id|code)?[.:#="' ]{0,4}$/;

function standsAlone(text: string, { start, end }: Finding): boolean {
  const before = text.charCodeAt(start - 1);
  const after = text.charCodeAt(end);
  if (isKeyCharacter(before) || isKeyCharacter(after)) return false;
  const isFraction = before === 46 || before === 47 || before === 43;
  const goesOn = (after === 46 || after === 32 || after === 47) && isDigit(text.charCodeAt(end + 1));
  const comesFrom = before === 32 && isDigit(text.charCodeAt(start - 2)) && text.charCodeAt(start + 3) === 32;
  return !isFraction && !(goesOn && after !== 32) && !comesFrom;
}
