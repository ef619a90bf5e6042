import type { Confidence, Finding, Range } from '../detector.ts';
import { isPlaceholder } from '../secrets/placeholder.ts';
import { looksRandom } from '../secrets/randomness.ts';
import { isDigit, isIn, isKeyCharacter, toCharacterSet } from '../text/characters.ts';
import { findLongRuns } from '../text/long-runs.ts';
import { namesNoKey, readKeyPrefix, subjectOf } from './key-prefix.ts';
import { drawnBody, drawnDottedParts, drawnRun } from './random-run.ts';

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
    '[g-z][0-9a-f]{32}',
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
    else if (isBareKey(text, run)) findings.push({ ...run, confidence: 'possible', why: 'random run' });
  }
  return findings;
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

const shortestBare = { mixed: 32, single: 40 } as const;
const longestBare = 128;
const alone = /[^\w+/=:;,.-]/;

/** A run of letters and digits that stands alone: many services issue keys without any prefix. Hex digits are hashes. */
function isBareKey(text: string, { start, end }: Range): boolean {
  const length = end - start;
  if (length < shortestBare.mixed || length > longestBare) return false;
  if (
    text.startsWith('0x', start) ||
    !alone.test(text.charAt(start - 1) || ' ') ||
    !/[^\w+/-]/.test(text.charAt(end) || ' ')
  )
    return false;
  const value = text.slice(start, end);
  if (/^[A-Za-z0-9]+$/.test(value)) return isDrawnAlone(value);
  const parts = value.split(/[_-]/);
  return parts.length === 2 && parts.every((part) => part.length >= shortestPart && isDrawnMixed(part));
}

const shortestPart = 16;

function isDrawnAlone(value: string): boolean {
  const alphabet = drawnRun(value)?.alphabet;
  if (alphabet === undefined || alphabet === 'hex' || value.length < shortestBare[alphabet]) return false;
  // Letters without a digit between may be words.
  return value.split(/\d+/).every((part) => part.length < 16 || looksRandom(part)) && !isPlaceholder(value);
}

function isDrawnMixed(part: string): boolean {
  return /^[A-Za-z0-9]+$/.test(part) && drawnRun(part)?.alphabet === 'mixed' && !isPlaceholder(part);
}

/** An identifier or words and a secret with a colon or a bar between, of which the run is the second. */
function pairIn(text: string, { start, end }: Range): Finding | undefined {
  const sign = text.charAt(start - 1);
  if (sign !== ':' && sign !== '|') return undefined;
  const before = text.slice(Math.max(0, start - 49), start - 1);
  const [id = ''] = (sign === '|' ? number : identifier).exec(before) ?? words.exec(before) ?? [];
  if (id === '' || id.split(':').some(namesNoKey)) return undefined;
  const bits = drawnBody(text.slice(start, end))?.bits ?? 0;
  return bits < leastPairBits ? undefined : { start: start - 1 - id.length, end, confidence: 'possible' };
}

const number = /(?<![\w|])\d{1,12}$/;
/** Two or more, as in `agent:acme:`. */
const words = /(?<![\w:/.@-])[a-z][a-z0-9-]{1,24}(?::[a-z][a-z0-9-]{1,24}){1,3}$/;
const identifier =
  /(?<![\w-])(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{20,48}|[A-Za-z0-9]{6}\.[A-Za-z0-9]{6})$/;
const leastPairBits = 120;

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** What orders objects by their time: ULIDs, and the identifiers of Anthropic. */
const orderedId = /^(?:[0-7][0-9a-hjkmnp-tv-z]{25}|01[0-9A-Za-z]{22,24})$/i;
/** A word and hex digits right behind it. */
const glued =
  /^(?:[a-z]{1,7}[g-z]|[A-Z]{1,7}[G-Z])(?=[a-f]*\d)(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{48}|[0-9a-f]{64})$/;

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
  if (glued.test(key)) return 'possible';
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

/** Names of members (`util.bytesFromIPv4`, `args_1.argsOrArray`) look like a short key behind a word. */
function mayBeMember(key: string, body: string): boolean {
  return key.charAt(key.length - body.length - 1) === '.' || !/\d.*\d/.test(body);
}

function toSet(others: string) {
  return toCharacterSet((code) => isKeyCharacter(code) || others.includes(String.fromCharCode(code)));
}
