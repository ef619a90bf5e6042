import type { Detector, Finding } from '../detector.ts';
import {
  isAlphanumeric,
  isDigit,
  isIn,
  isLatinLetter,
  isWordCharacter,
  toCharacterSet,
} from '../text/characters.ts';

const maxLocalLength = 64;
const maxDomainLength = 189;

/**
 * Mail addresses of people, not lookalikes: no-reply senders, `git@host:path`, user names in URLs, package versions
 * (`name@1.2.3`), images for high-density screens (`icon@2x.png`), decorators.
 */
export const email: Detector = {
  prefilter: { kind: 'regexes', regexes: ['[^ "`(]@[^ \'"`(/:]+\\.[^ ]'] },
  reach: maxLocalLength + 1 + maxDomainLength,
  folded: true,
  ignoresCase: true,
  holdsSpace: 'never',
  neverCertain: true,
  find(text) {
    const findings: Finding[] = [];
    for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', at + 1)) {
      const end = domainEnd(text, at + 1);
      if (end < at + 4 || !isHostName(text, at + 1, end)) continue;
      const start = localStart(text, at);
      if (start < at && isAddress(text, start, at, end)) findings.push({ start, end });
    }
    return findings;
  },
};

function localStart(text: string, at: number): number {
  let start = at;
  while (start > 0 && at - start <= maxLocalLength && isLocalCharacter(text.charCodeAt(start - 1)))
    start -= 1;
  while (start < at && !isNameCharacter(text.charCodeAt(start))) start += 1;
  return start;
}

const localCharacters = toCharacterSet(isWordCharacter, ".+-'%");

function isLocalCharacter(code: number): boolean {
  return code < 128 ? isIn(localCharacters, code) : isNameCharacter(code);
}

/** Letters of any script, digits and the underscore: what the parts of an address begin and end with. */
function isNameCharacter(code: number): boolean {
  return isWordCharacter(code) || (code >= 0xc0 && !isForeignPunctuation(code));
}

/** General punctuation, the CJK marks and full-width forms: they surround an address in running text. */
function isForeignPunctuation(code: number): boolean {
  return (
    (code >= 0x2000 && code <= 0x2bff) ||
    (code >= 0x3000 && code <= 0x303f) ||
    code >= 0xfe00 ||
    code === 0x060c ||
    code === 0x061b ||
    (code >= 0xd800 && code <= 0xdfff)
  );
}

function domainEnd(text: string, start: number): number {
  let end = start;
  while (end < text.length && end - start <= maxDomainLength && isDomainCharacter(text.charCodeAt(end)))
    end += 1;
  while (end > start && !isNameCharacter(text.charCodeAt(end - 1))) end -= 1;
  return end;
}

const domainCharacters = toCharacterSet(isAlphanumeric, '-.');

function isDomainCharacter(code: number): boolean {
  return code < 128 ? isIn(domainCharacters, code) : isNameCharacter(code);
}

function isAddress(text: string, start: number, at: number, end: number): boolean {
  if (at - start > maxLocalLength || end - at - 1 > maxDomainLength) return false;
  if (text.charCodeAt(at - 1) === 46) return false;
  return (
    !hasEmptyPart(text, start, at) && !isNobody(text, { start, at, end }) && !isPartOfUrl(text, start, end)
  );
}

/** Whether two dots follow each other. */
function hasEmptyPart(text: string, start: number, end: number): boolean {
  for (let at = start + 1; at < end; at += 1) {
    if (text.charCodeAt(at) === 46 && text.charCodeAt(at - 1) === 46) return true;
  }
  return false;
}

/**
 * At least two labels of up to 63 characters that neither begin nor end with a hyphen; the last is a top-level domain.
 */
function isHostName(text: string, start: number, end: number): boolean {
  let label = start;
  for (let at = start; at < end; at += 1) {
    if (text.charCodeAt(at) !== 46) continue;
    if (!isLabel(text, label, at) || (label === start && isScale(text, label, at))) return false;
    label = at + 1;
  }
  return label > start && isLabel(text, label, end) && isTopLevel(text, label, end);
}

function isLabel(text: string, start: number, end: number): boolean {
  const isHyphen = text.charCodeAt(start) === 45 || text.charCodeAt(end - 1) === 45;
  return end > start && end - start <= 63 && !isHyphen;
}

/** The "2x" of an image for a high-density screen. */
function isScale(text: string, start: number, end: number): boolean {
  if (end - start > 3 || (text.charCodeAt(end - 1) | 32) !== 120) return false;
  return isDigit(text.charCodeAt(start)) && (end - start === 2 || isDigit(text.charCodeAt(start + 1)));
}

function isTopLevel(text: string, start: number, end: number): boolean {
  if (end - start < 2 || end - start > 24) return false;
  if (isAlphabetic(text, start, end)) return !fileEndings.has(text.slice(start, end).toLowerCase());
  return text.slice(start, start + 4).toLowerCase() === 'xn--';
}

function isAlphabetic(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (!isLatinLetter(code) && code < 0xc0) return false;
  }
  return true;
}

const fileEndings = new Set(
  'png jpg jpeg gif svg webp ico css scss less js mjs cjs jsx ts mts cts tsx json map html htm xml yaml yml toml lock txt log csv tgz gz zip tar whl jar exe dll bin pdf mp4 mp3 woff woff2 ttf wasm local service socket target timer mount internal invalid localdomain'.split(
    ' ',
  ),
);

interface Address {
  readonly start: number;
  /** Its sign. */
  readonly at: number;
  readonly end: number;
}

/** Senders whose mailbox isn't read. */
function isNobody(text: string, { start, at, end }: Address): boolean {
  const first = text.charCodeAt(start) | 32;
  if ((first === 110 || first === 100) && noReply.test(text.slice(start, at))) return true;
  // Few are as short as the one or as long as the other, and a copy of each would cost more than finding it.
  const isShort = at - start <= maxKeywordLength;
  if (isShort && servicesAndKeywords.has(text.slice(start, at).toLowerCase())) return true;
  return end - at - 1 === hiddenDomain.length && text.slice(at + 1, end).toLowerCase() === hiddenDomain;
}

const noReply = /^(?:no|do-?not|dont)[-_.]?reply(?:[-_.+].{0,40})?$/i;
const hiddenDomain = 'users.noreply.github.com';

/** Users of version control and mail systems; words that Kotlin writes before its labels (`this@Screen.close`). */
const servicesAndKeywords = new Set([
  'git',
  'hg',
  'mailer-daemon',
  'x-oauth-basic',
  'this',
  'super',
  'return',
  'break',
  'continue',
]);

const maxKeywordLength = Math.max(...Array.from(servicesAndKeywords, ({ length }) => length));

/** `scheme://user@host`, `user:password@host` in a URL, `user@host:path` of git and scp. */
function isPartOfUrl(text: string, start: number, end: number): boolean {
  if (text.charCodeAt(start - 1) === 64 || followsScheme(text, start)) return true;
  if (text.charCodeAt(end) === 64) return true;
  return text.charCodeAt(end) === 58 && /^:[\w~.-]{0,40}\//.test(text.slice(end, end + 42));
}

/** Whether `://` precedes, with nothing in between that would end a URL's user part. */
function followsScheme(text: string, start: number): boolean {
  let at = start;
  while (at > 0 && start - at < maxUserLength && !endsUser(text.charCodeAt(at - 1))) at -= 1;
  return text.startsWith('://', at - 3);
}

const maxUserLength = 76;
const userEnds = toCharacterSet((code) => /[\s/@?&=#]/.test(String.fromCharCode(code)));

function endsUser(code: number): boolean {
  return code < 128 ? isIn(userEnds, code) : /\s/.test(String.fromCharCode(code));
}
