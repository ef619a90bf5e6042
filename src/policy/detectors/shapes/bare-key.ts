import { bytesSlot } from '../../../dialects/translation/seals.ts';
import type { Range } from '../detector.ts';
import { isPlaceholder } from '../secrets/placeholder.ts';
import { looksRandom } from '../secrets/randomness.ts';
import { randomRun } from './random-run.ts';

/** Identifiers are often in one case, so more characters are required; those in capitals are seldom anything else. */
const minLength = { mixed: 32, single: 40, capitals: 20 } as const;
const maxLength = 300;
const minPartLength = 16;

const signsBefore = /[\w+/=:;,.-]/;
/** An `@` ends the local part of an address or a message's identifier. */
const signsBehind = /[\w+/@-]/;

/** Digits in three places: constants seldom have that, and the prefilter can match it. */
const scatteredDigits = /[A-Z]\d+[A-Z]+\d+[A-Z]+\d/;
export const scatteredDigitsPrefilter = '[a-z][0-9]+[a-z]+[0-9]+[a-z]+[0-9]';

/** Bech32 addresses and recipients, SSH's public keys, headers of web tokens, mangled symbols. */
const publishedValue =
  /^(?:(?:age|bc|tb|ltc|npub|note|addr|stake|pool|cosmos|osmo)1[a-z0-9]{20,}$|AAAA[BCEG][0-9A-Za-z]|eyJ(?:hbGci|0eXAi)\w*$|_[ZR])/;
const otherContext =
  /(?:public|recipient|etag|none-match|integrity|sha\d{1,3}|hash|digest|checksum|fingerprint|nonce|commit|csrf|xsrf|authenticity|verification|challenge|dnskey)[\w-]{0,12}[\s"':=]{0,4}[^\n]{0,10}$|W\/"$/i;
/** `"price_id": "…"`, `ami = "…"`, `x-amz-cf-id: …`; what identifies a session gives access to it. */
const identifierName =
  /(?<!sess|session[_-]?|Session|SESSION_|\bs|\bS|connect\.s)(?:\b|_|[a-z](?=I))(?:ids?|I[dD]s?|arn|ami)(?:[_-]\d)?["']?\s{0,24}(?:=>|[:=])\s{0,4}\[?\s{0,4}["'`]?$|(?<!SESSION)_(?:ID|ARN)S?\s?=\s?["']?$/;

/** The previous or the next line looks the same, as in certificates and other base64 files. */
const wrapped = /(?:[A-Za-z0-9+/]{32}|-----)(?:\\n|\r?\n)$/;
const wraps = /^(?:\\n|\r?\n)[A-Za-z0-9+/]{32}/;

/** Whether the text before a run shows that it is not a key. */
export function saysNoKey(text: string, start: number): boolean {
  const before = text.slice(Math.max(0, start - 40), start);
  return otherContext.test(before) || identifierName.test(before) || wrapped.test(before);
}

/** What is meant to be seen, and identifiers ordered by time (ULIDs). */
export function isPublished(value: string): boolean {
  return publishedValue.test(value) || /^01[0-9A-HJKMNP-TV-Z]{24}$/.test(value);
}

/** A standalone run that looks randomly drawn from both cases: many services issue keys without a prefix. */
export function isBareKey(text: string, { start, end }: Range): boolean {
  const length = end - start;
  if (length < minLength.capitals || length > maxLength || isHexLiteral(text, start)) return false;
  if (signsBefore.test(text.charAt(start - 1)) || signsBehind.test(text.charAt(end))) return false;
  const value = text.slice(start, end);
  // A seal of the gateway's own in a slot of bytes: base64 of letters alone looks drawn at random.
  if (value.startsWith(bytesSlot.start)) return false;
  if (!isRandomKey(value) || isPlaceholder(value) || isPublished(value)) return false;
  return !saysNoKey(text, start) && !wraps.test(text.slice(end, end + 36));
}

/** `0x…`, and `\\x…` of PostgreSQL. */
function isHexLiteral(text: string, start: number): boolean {
  return text.startsWith('0x', start) || (text.charAt(start - 1) === '\\' && text.charAt(start) === 'x');
}

function isRandomKey(value: string): boolean {
  if (/^[A-Za-z0-9]+$/.test(value)) return isRandomAlone(value);
  if (value.length < minLength.mixed) return false;
  if (/^[\w-]+$/.test(value)) return isRandomWithSigns(value, /[_-]+/);
  return isOfKeyLength(value) && isRandomWithSigns(value.replace(/=+$/, ''), /[+/]+/);
}

/** Base64 of 30, 32 or 64 bytes, the sizes of keys; files have any size. */
function isOfKeyLength(value: string): boolean {
  return /^(?:[A-Za-z0-9+/]{40}|[A-Za-z0-9+/]{43}=?|[A-Za-z0-9+/]{86}(?:==)?)$/.test(value);
}

/** Hashes. */
const hex = /^(?:[\da-f]+|[\dA-F]+)$/;

function isRandomAlone(value: string): boolean {
  if (hex.test(value)) return false;
  if (/^[A-Z\d]+$/.test(value)) return scatteredDigits.test(value) && randomRun(value)?.alphabet === 'single';
  const alphabet = randomRun(value)?.alphabet;
  if (alphabet === undefined || alphabet === 'hex' || value.length < minLength[alphabet]) return false;
  // Letters without a digit in between may be words.
  return value.split(/\d+/).every((part) => part.length < 16 || looksRandom(part));
}

/** In base64 one character in 32 is a sign, and one in six a digit. */
function isRandomWithSigns(value: string, signs: RegExp): boolean {
  const parts = value.split(signs);
  if (parts.length > 2 + value.length / 16 || parts.some((part) => part.length >= 5 && !isRandomPart(part)))
    return false;
  return (
    Math.max(...parts.map((part) => part.length)) >= minPartLength && randomRun(value)?.alphabet === 'mixed'
  );
}

function isRandomPart(part: string): boolean {
  return part.length >= 12 ? randomRun(part)?.alphabet === 'mixed' : /\d|[a-z][A-Z]|[A-Z]{2}[a-z]/.test(part);
}
