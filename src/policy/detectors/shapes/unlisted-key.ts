import type { Confidence, Finding, Range } from '../detector.ts';
import { isDigit, isIn, isKeyCharacter, toCharacterSet } from '../text/characters.ts';
import { findLongRuns } from '../text/long-runs.ts';
import { isBareKey, saysNoKey, scatteredDigitsPrefilter } from './bare-key.ts';
import { namesNoKey, readKeyPrefix, subjectOf } from './key-prefix.ts';
import { drawnBody, drawnDottedParts } from './random-run.ts';

/** What keys with a prefix are made of: words and random parts, with signs between. */
const characters = toSet('.~$+');
const base64 = toSet('+/=');
const signs = '_.~$+/-';

const shortestKey = 16;
const shortestRun = 12;
const longestKey = 2048;

/**
 * Expressions of the folded view for a text that may hold a likely one, and a possible one. Any text with a long run may,
 * too; `longRunLength` is more than `toolu_01…` has, of which a conversation has many.
 */
export const unlistedPrefilters: Readonly<Record<'likely' | 'possible', readonly string[]>> = {
  likely: ['(?:sk|keys?|tok|tkn|token|pats?|secret|sec|live)[0-9]{0,2}[_.~$-][a-z0-9_.~$+/=-]{20}'],
  // The zero keeps `toolu_01…` out.
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
 * Keys of services that the table of shapes does not know: a prefix of words, which says whose key it is and of what kind,
 * and behind it a long run that looks randomly drawn. Identifiers and hashes are written in the same way, so that only a
 * prefix that speaks of a key, or more characters than identifiers have, makes the finding likely.
 */
export function findUnlistedKeys(text: string): readonly Finding[] {
  const findings: Finding[] = [];
  // A run is read with what follows once only: runs with slashes between would be read again and again.
  let readTo = 0;
  for (const run of findLongRuns(text, shortestRun, characters)) {
    if (run.end - run.start > longestKey || !hasDigit(text, run)) continue;
    const end = run.start < readTo ? run.end : base64End(text, run);
    readTo = Math.max(readTo, end);
    const joined = end > run.end ? keyIn(text, { start: run.start, end }) : undefined;
    const found = joined ?? keyIn(text, run) ?? pairIn(text, { start: run.start, end });
    if (found !== undefined) findings.push({ ...found, why: 'unlisted service, shape' });
    else if (isBareKey(text, { start: run.start, end }) && !speaksOfNoKey(text.slice(run.start, end)))
      findings.push({ start: run.start, end, confidence: 'possible', why: 'random run' });
  }
  return findings;
}

/** `chunk-…`, `toolu_…` */
function speaksOfNoKey(value: string): boolean {
  const prefix = readKeyPrefix(value);
  return prefix !== undefined && subjectOf(value, prefix) === 'no key';
}

/** Names seldom have a digit, keys nearly always, and that is cheap to find out. */
function hasDigit(text: string, { start, end }: Range): boolean {
  for (let at = end - 1; at >= start; at -= 1) if (isDigit(text.charCodeAt(at))) return true;
  return false;
}

/** Where the run ends together with what may be base64 behind it. */
function base64End(text: string, { start, end }: Range): number {
  let last = end;
  while (last - start < longestKey && isIn(base64, text.charCodeAt(last))) last += 1;
  return last;
}

/** The key that fills a run but for signs around it. */
function keyIn(text: string, run: Range): Finding | undefined {
  let { start, end } = run;
  while (start < end && signs.includes(text.charAt(start))) start += 1;
  while (end > start && signs.includes(text.charAt(end - 1))) end -= 1;
  if (end - start < shortestKey) return undefined;
  if (text.charAt(start - 1) === '$' && start > run.start) start -= 1;
  const confidence = confidenceOf(text.slice(start, end).replace(/^\$/, ''));
  return confidence && { start, end, confidence };
}

/** An identifier or words and a secret with a colon or a bar between, of which the run is the second. */
function pairIn(text: string, { start, end }: Range): Finding | undefined {
  const sign = text.charAt(start - 1);
  if (!':|/'.includes(sign) || sign === '') return undefined;
  const before = text.slice(Math.max(0, start - 49), start - 1);
  const [id = ''] = ids[sign as ':'].exec(before) ?? (sign === '/' ? undefined : words.exec(before)) ?? [];
  const [label = ''] = id === '' && sign !== '/' ? (word.exec(before) ?? []) : [];
  if (id + label === '' || (id + label).split(/[:|.-]/).some(namesNoKey)) return undefined;
  if (label !== '' && saysNoKey(text, start - 1 - label.length)) return undefined;
  const value = text.slice(start, end);
  const drawn = drawnBody(value) ?? drawnDottedParts(value);
  const enough =
    drawn !== undefined &&
    (id === '' ? drawn.alphabet !== 'hex' && drawn.bits >= leastLabelledBits : drawn.bits >= leastPairBits);
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
const leastPairBits = 120;
const leastLabelledBits = 150;

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** What orders objects by their time: ULIDs, and the identifiers of Anthropic. */
const orderedId = /^(?:[0-7][0-9a-hjkmnp-tv-z]{25}|01[0-9A-Za-z]{22,24})$/i;
/** A word and hex digits right behind it: in another case, or where the word ends with no hex digit. */
const glued =
  /^(?:(?:[a-z]{1,7}[g-z]|[A-Z]{1,7}[G-Z])(?=[a-f]*\d)[0-9a-f]{24,64}|(?!MII)[A-Z]{2,8}[0-9a-f]{32,64})$/;
/** Two identifiers joined to one, or an identifier with a key behind it, which is how some vendors issue keys without a prefix. */
const joinedIds =
  /^(?:[a-z][\w-]{0,40}-)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}[-_.](?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[A-Za-z0-9]{20,64})$|^[0-9a-f]{32}-(?:[0-9a-f]{8}-[0-9a-f]{8}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;
const shortestJoined = 50;
/** An account in front: `1234~…`. */
const numbered = /^\d{1,6}~([\w-]{36,})$/;
/** Groups of capitals and digits, of which most have both. */
const grouped = /^(?:[A-Z\d]{1,3}-)?[A-Z\d]{4,8}(?:-[A-Z\d]{4,8}){3,7}$/;
const leastGrouped = 31;

/** Bits from which on a key is possible and likely, by what its prefix speaks of. */
const leastBits = {
  'a key': { possible: 64, likely: 120 },
  'a public key': { possible: 80, likely: Number.POSITIVE_INFINITY },
  access: { possible: 64, likely: 180 },
  something: { possible: 64, likely: 180 },
} as const;
/** More than names have that pass for random. */
const memberBits = 90;
const leastDottedBits = 160;

function confidenceOf(key: string): Confidence | undefined {
  if (uuid.test(key)) return undefined;
  if (glued.test(key) || (key.length >= shortestJoined && joinedIds.test(key)) || isGrouped(key))
    return 'possible';
  const counted = key.includes('~') ? numbered.exec(key)?.[1] : undefined;
  if (counted !== undefined)
    return (drawnBody(counted)?.bits ?? 0) >= leastDottedBits ? 'possible' : undefined;
  const prefix = readKeyPrefix(key);
  if (prefix === undefined) {
    const bits = drawnDottedParts(key)?.bits ?? 0;
    return bits >= leastDottedBits ? 'possible' : undefined;
  }
  const { body } = prefix;
  const isUuid = uuid.test(body);
  const isOrdered = orderedId.test(body);
  const drawn = isUuid || isOrdered ? undefined : drawnBody(body);
  if (drawn === undefined && !isUuid && !isOrdered) return undefined;
  const subject = subjectOf(key, prefix);
  if (subject === 'no key' || (isOrdered && subject === 'something')) return undefined;
  if (drawn === undefined) return 'possible';
  const { possible, likely } = leastBits[subject];
  if (drawn.bits < possible) return undefined;
  if (subject === 'something' && drawn.bits < memberBits && mayBeMember(key, body)) return undefined;
  const isLikely = drawn.bits >= likely && (subject === 'a key' || drawn.alphabet !== 'hex');
  return isLikely ? 'likely' : 'possible';
}

function isGrouped(key: string): boolean {
  if (key.length < leastGrouped || !grouped.test(key)) return false;
  const mixed = key.split('-').filter((part) => /\d/.test(part) && /[G-Z]/.test(part));
  return mixed.length >= 3;
}

/** Names of members (`util.bytesFromIPv4`, `args_1.argsOrArray`) look like a short key behind a word. */
function mayBeMember(key: string, body: string): boolean {
  return key.charAt(key.length - body.length - 1) === '.' || !/\d.*\d/.test(body);
}

function toSet(others: string) {
  return toCharacterSet((code) => isKeyCharacter(code) || others.includes(String.fromCharCode(code)));
}
