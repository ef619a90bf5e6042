import type { Confidence, Finding, Range } from '../detector.ts';
import { isSampleToken } from '../secrets/placeholder.ts';
import { isDigit, isKeyCharacter, toCharacterSet } from '../text/characters.ts';
import { findLongRuns } from '../text/long-runs.ts';
import { isBareKey, saysNoKey, scatteredDigitsPrefilter } from './bare-key.ts';
import { isNamedDigest, namesNoKey, readKeyPrefix, subjectOf } from './key-prefix.ts';
import { randomBody, randomDottedParts, uuid } from './random-run.ts';

/** The characters of keys with a prefix: words and random parts, joined by signs. */
const characters = toCharacterSet(isKeyCharacter, '.~$+');
const signs = '_.~$+/-';

const minKeyLength = 16;
const minRunLength = 12;
const maxKeyLength = 2048;

/**
 * Prefilters for the folded view of a text with a likely or a possible key. Any text with a long run passes as well;
 * `longRunLength` exceeds ids such as `toolu_01…`, which are frequent in conversations.
 */
export const unlistedPrefilters: Readonly<Record<'likely' | 'possible', readonly string[]>> = {
  likely: ['(?:sk|keys?|tok|tkn|token|pats?|secret|sec|live)[0-9]{0,2}[_.~$-][a-z0-9_.~$+/=-]{20}'],
  // The zero excludes `toolu_01…`.
  possible: [
    '[a-z0-9][_.~$-][a-z1-9][a-z0-9]{13}',
    '[a-z0-9][_.~$-][0-9a-f]{8}-[0-9a-f]{4}-',
    '[g-z][0-9a-f]{24}',
    scatteredDigitsPrefilter,
    '[a-z0-9][:|][a-z0-9_-]{24}',
    '(?:sk|keys?|tok|tkn|token|pats?|secret|sec|live)[0-9]{0,2}[_.~$-][a-z0-9_.~$+/=-]{12}',
    '[a-z]{2}_[a-z0-9_-]{14}',
  ],
};

/**
 * Keys of services missing from the table of shapes: a prefix of words, which names the owner and kind of key, and a
 * long run that looks randomly drawn. Identifiers and hashes look the same, so a finding is only likely if the prefix
 * has a word for keys, or the run is longer than identifiers are.
 */
export function findUnlistedKeys(text: string): readonly Finding[] {
  const findings: Finding[] = [];
  // What follows a run is read only once: otherwise runs separated by slashes would be read again and again.
  let readTo = 0;
  for (const run of findLongRuns(text, minRunLength, characters)) {
    if (run.end - run.start > maxKeyLength || !hasDigit(text, run)) continue;
    const end = run.start < readTo ? run.end : base64End(text, run);
    readTo = Math.max(readTo, end);
    const joined = end > run.end ? keyIn(text, { start: run.start, end }) : undefined;
    const found = joined ?? keyIn(text, run) ?? pairIn(text, { start: run.start, end });
    if (found !== undefined) {
      if (!isOtherwiseNamed(text, found)) findings.push({ ...found, why: 'unlisted service, shape' });
    } else if (isBareKey(text, { start: run.start, end }) && !hasOtherPrefix(text.slice(run.start, end)))
      findings.push({ start: run.start, end, confidence: 'possible', why: 'random run' });
  }
  return findings;
}

/** What has no word for keys is what its name says: `"price_id": "price_…"`, `ami = "ami-…"`, `etag: "…"`. */
function isOtherwiseNamed(text: string, { start, end }: Range): boolean {
  if (!saysNoKey(text, start)) return false;
  const key = text.slice(start, end);
  const prefix = readKeyPrefix(key);
  return prefix === undefined || subjectOf(key, prefix) === 'something';
}

/** `chunk-…`, `toolu_…` */
function hasOtherPrefix(value: string): boolean {
  const prefix = readKeyPrefix(value);
  return prefix !== undefined && subjectOf(value, prefix) === 'no key';
}

/** Names seldom contain a digit, keys nearly always do, and that is cheap to check. */
function hasDigit(text: string, { start, end }: Range): boolean {
  for (let at = end - 1; at >= start; at -= 1) if (isDigit(text.charCodeAt(at))) return true;
  return false;
}

/** What may follow a run in base64. A sign of padding within it separates a name from a value. */
const base64Rest = /(?!={1,2048}[\w+/-])[\w+/-]{0,2048}={0,2048}/y;

/** The end of the run, including base64 that may follow it. */
function base64End(text: string, { start, end }: Range): number {
  base64Rest.lastIndex = end;
  return base64Rest.test(text) ? Math.min(base64Rest.lastIndex, start + maxKeyLength) : end;
}

/** The key that fills a run except for surrounding signs. */
function keyIn(text: string, run: Range): Finding | undefined {
  let { start, end } = run;
  while (start < end && signs.includes(text.charAt(start))) start += 1;
  while (end > start && signs.includes(text.charAt(end - 1))) end -= 1;
  // The last of 64 characters is a sign once in 32 keys.
  if (end === run.end - 1 && closesKey(text, start, end)) end += 1;
  if (end - start < minKeyLength) return undefined;
  if (text.charAt(start - 1) === '$' && start > run.start) start -= 1;
  const confidence = confidenceOf(text.slice(start, end).replace(/^\$/, ''));
  return confidence && { start, end, confidence };
}

/** Whether a hyphen or underscore before a closing quotation mark or the end of a line is a character of the key. */
function closesKey(text: string, start: number, end: number): boolean {
  return '-_'.includes(text.charAt(end)) && /["'`\r\n]|^$/.test(text.charAt(end + 1)) && end - start >= 32;
}

/** An identifier or words, a colon or a bar, and a secret, which is the run. */
function pairIn(text: string, { start, end }: Range): Finding | undefined {
  const sign = text.charAt(start - 1);
  if (!':|/'.includes(sign) || sign === '') return undefined;
  const before = text.slice(Math.max(0, start - 49), start - 1);
  const [id = ''] = ids[sign as ':'].exec(before) ?? (sign === '/' ? undefined : words.exec(before)) ?? [];
  const [label = ''] = id === '' && sign !== '/' ? (word.exec(before) ?? []) : [];
  if (id + label === '' || (id + label).split(/[:|.-]/).some(namesNoKey)) return undefined;
  if (label !== '' && saysNoKey(text, start - 1 - label.length)) return undefined;
  const value = text.slice(start, end);
  const random = randomBody(value) ?? randomDottedParts(value);
  const enough =
    random !== undefined &&
    (id === '' ? random.alphabet !== 'hex' && random.bits >= minLabelledBits : random.bits >= minPairBits);
  return enough ? { start: start - 1 - id.length - label.length, end, confidence: 'possible' } : undefined;
}

/** Two or more, as in `agent:acme:`. */
const words = /(?<![\w:/.@-])[a-z][a-z0-9-]{1,24}(?::[a-z][a-z0-9-]{1,24}){1,3}$/;
const ids = {
  '|': /(?<![\w|])(?:[A-Z]{1,4}\|)?\d{1,20}$/,
  ':': /(?<![\w-])(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{20,48}|(?:\d\/)?\d{12,20}|[A-Za-z0-9]{6}\.[A-Za-z0-9]{6}|[\w+/]{20,24}==)$/,
  '/': /(?<![\w/.:+=-])v?\d{1,2}\/?$/,
} as const;
/** `oauth:…`, `prod:otter-123|…` */
const word = /(?<![\w:/.@-])[A-Za-z][\w-]{1,24}(?::[\w-]{2,48}(?=$))?$/;
const minPairBits = 120;
const minLabelledBits = 150;

/**
 * Time-ordered identifiers: ULIDs, Anthropic's, and UUIDs of version 7 of these decades, which Codex gives to what it
 * sends.
 */
const orderedId =
  /^(?:[0-7][0-9a-hjkmnp-tv-z]{25}|01[0-9A-Za-z]{22,24}|0[12][0-9a-f]{6}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12})$/i;
/** A word directly followed by hex digits: in another case, or after a word that doesn't end in a hex digit. */
const glued =
  /^(?:(?:[a-z]{1,7}[g-z]|[A-Z]{1,7}[G-Z])(?=[a-f]*\d)[0-9a-f]{24,64}|(?!MII)[A-Z]{2,8}[0-9a-f]{32,64})$/;
/** Two joined identifiers, or an identifier and a key, as some vendors issue keys without a prefix. */
const joinedIds =
  /^(?:[a-z][\w-]{0,40}-)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}[-_.](?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[A-Za-z0-9]{20,64})$|^[0-9a-f]{32}-(?:[0-9a-f]{8}-[0-9a-f]{8}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;
const minJoinedLength = 50;
/** A leading account number: `1234~…`. */
const numbered = /^\d{1,6}~([\w-]{36,})$/;
/** Groups of capitals and digits; most have both. */
const grouped = /^(?:[A-Z\d]{1,3}-)?[A-Z\d]{4,8}(?:-[A-Z\d]{4,8}){3,7}$/;
const minGroupedLength = 31;

/** Minimum bits for a possible and for a likely key, by the kind of prefix. */
const minBits = {
  'a key': { possible: 64, likely: 120 },
  'a public key': { possible: 80, likely: Number.POSITIVE_INFINITY },
  access: { possible: 64, likely: 180 },
  something: { possible: 64, likely: 180 },
} as const;
/** More than names that look random have. */
const memberBits = 90;
const minDottedBits = 160;

/** What joins the parts of a key. */
const joint = /[_.~$-]/;

function confidenceOf(key: string): Confidence | undefined {
  // All other kinds have one.
  if (!joint.test(key)) return glued.test(key) ? 'possible' : undefined;
  if (uuid.test(key) || isSampleToken(key)) return undefined;
  if (glued.test(key) || (key.length >= minJoinedLength && joinedIds.test(key)) || isGrouped(key))
    return 'possible';
  const counted = key.includes('~') ? numbered.exec(key)?.[1] : undefined;
  if (counted !== undefined)
    return (randomBody(counted)?.bits ?? 0) >= minDottedBits ? 'possible' : undefined;
  const prefix = readKeyPrefix(key);
  if (prefix === undefined) {
    const bits = randomDottedParts(key)?.bits ?? 0;
    return bits >= minDottedBits ? 'possible' : undefined;
  }
  const { body } = prefix;
  const isUuid = uuid.test(body);
  const isOrdered = orderedId.test(body);
  const random = isUuid || isOrdered ? undefined : randomBody(body);
  if (random === undefined && !isUuid && !isOrdered) return undefined;
  const subject = subjectOf(key, prefix);
  if (subject === 'no key' || (isOrdered && subject === 'something')) return undefined;
  if (random === undefined) return 'possible';
  const { possible, likely } = minBits[subject];
  if (random.bits < possible || (subject === 'something' && isNamedDigest(key))) return undefined;
  if (subject === 'something' && random.bits < memberBits && mayBeMember(key, body)) return undefined;
  const isLikely = random.bits >= likely && (subject === 'a key' || random.alphabet !== 'hex');
  return isLikely ? 'likely' : 'possible';
}

function isGrouped(key: string): boolean {
  if (key.length < minGroupedLength || !grouped.test(key)) return false;
  const mixed = key.split('-').filter((part) => /\d/.test(part) && /[G-Z]/.test(part));
  return mixed.length >= 3;
}

/** Member names (`util.bytesFromIPv4`, `args_1.argsOrArray`) look like a short key after a word. */
function mayBeMember(key: string, body: string): boolean {
  return key.charAt(key.length - body.length - 1) === '.' || !/\d.*\d/.test(body);
}
