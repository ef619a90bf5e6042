import type { Range } from '../detector.ts';
import { isMarkedExample, isRepetitive } from './placeholder.ts';
import { looksRandomThroughout } from './randomness.ts';
import { kindOfName, type NameKind } from './secret-names.ts';
import { address, lockHash, template } from './secret-value.ts';

/** With its name it is shorter than what a stream holds back. */
const maxValueLength = 3900;
/** Characters in words that no text has, by kind of name. */
const minOdd: Readonly<Record<NameKind, number>> = {
  password: 8,
  token: 12,
  key: 16,
  'bare key': Infinity,
};

/** At the beginning of a line, which may be indented: `NAME="`, `export NAME='`, `NAME = "`. */
const lineStart = /(?:^|[\r\n])[ \t]{0,8}(?:export[ \t])?$/;
const beforeValue = /[ \t]?=[ \t]?(["'])/y;
/** A quotation mark that closes is not followed by a word. */
const afterClosing = /[\s;]|$/y;
const separated = /\s|\\[nrt]/;

/**
 * The value of a variable in a file of settings that holds spaces or line breaks, up to the quotation mark that closes
 * it; undefined if it has neither, or is a text, a command or a template. A mark of the same kind ends the search, so
 * no character is read for more than two names.
 */
export function quotedSetting(text: string, name: Range, kind: NameKind): Range | undefined {
  const { start, end } = name;
  beforeValue.lastIndex = end;
  const quote = beforeValue.exec(text)?.[1];
  if (quote === undefined || !lineStart.test(text.slice(Math.max(0, start - 17), start))) return undefined;
  const value = { start: beforeValue.lastIndex, end: closingMark(text, beforeValue.lastIndex, quote) };
  afterClosing.lastIndex = value.end + 1;
  if (value.end === -1 || !afterClosing.test(text)) return undefined;
  // In capitals the endings of names that are no secrets (`PASSWORD_HINT`) are words, too.
  if (kindOfName(text.slice(start, end).toLowerCase()) === undefined) return undefined;
  return isSpacedSecret(text.slice(value.start, value.end), kind) ? value : undefined;
}

function closingMark(text: string, from: number, quote: string): number {
  const limit = Math.min(text.length, from + maxValueLength);
  for (let at = from; at < limit; at += 1) {
    const character = text.charAt(at);
    if (character === quote) return at;
    if (character === '\\') at += 1;
  }
  return -1;
}

/** Armour and public keys, commands, variables, expressions, codes of terminals. */
const other =
  /-----BEGIN|^(?:ssh|ecdsa)-|`|\$(?:[A-Z_]{2}|[a-z_]{3}|[\d{(@*])|\\(?:[dswDSW]|033|e\[|x1b|u001b)|\[[^[\]]*\]|\(\?|\w\([^()]*\)/;

/** Whether most of a value's characters are in words that neither texts nor program code have. */
function isSpacedSecret(value: string, kind: NameKind): boolean {
  if (!separated.test(value) || template.test(value) || other.test(value)) return false;
  if (isMarkedExample(value) || isRepetitive(value, 7)) return false;
  let [odd, all] = [0, 0];
  for (const word of value.split(/(?:\s|\\[nrt])+/)) {
    all += word.length;
    if (!isOrdinary(word)) odd += word.length;
  }
  return odd >= minOdd[kind] && odd >= all * 0.6;
}

const openers = `"'([{<`;
const closers = `.,:;!?)"']}>`;
const signs = /[-_./:,=+~]+/;
/** `password`, `userName`, `PostgreSQL`, `32`, `sha256`, `RS256`, `a1`, `32bytes`. */
const part =
  /^(?:|[A-Z]{0,3}[a-z]+(?:[A-Z][a-z]{2,})*[A-Z]{0,4}s?|[A-Z]+|\d+|[A-Z]?[a-z]{2,}\d{1,4}|[A-Z]{2,}\d{1,4}|[a-z]\d{1,2}|\d{1,6}[a-z]{1,5})$/;
/** The fingerprint or the number of a PGP key. */
const keyNumber = /^(?:[0-9A-F]{8,40}|0x[0-9A-Fa-f]{8,40})$/;

/** A word of any language, a number, a name of several words, an address. */
function isOrdinary(written: string): boolean {
  const word = withoutPunctuation(written);
  if (!/\p{L}/u.test(word)) return true;
  if (address.test(word) || lockHash.test(word) || keyNumber.test(word)) return true;
  if (/^[A-Za-z]{12,}$/.test(word) && looksRandomThroughout(word)) return false;
  return word.split(signs).every((each) => part.test(each) || isForeign(each));
}

function withoutPunctuation(word: string): string {
  let [start, end] = [0, word.length];
  while (start < end && openers.includes(word.charAt(start))) start += 1;
  while (start < end && closers.includes(word.charAt(end - 1))) end -= 1;
  return word.slice(start, end);
}

function isForeign(word: string): boolean {
  return /[^ -~]/.test(word) && /^[\p{L}\p{M}]+$/u.test(word);
}
