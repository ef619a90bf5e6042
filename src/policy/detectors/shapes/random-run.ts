import { isPlaceholder, isRepetitive } from '../secrets/placeholder.ts';
import { looksLikeWord, looksRandomThroughout } from '../secrets/randomness.ts';
import { isDigit, isHexDigit, isLatinLetter } from '../text/characters.ts';

/** Bits per character: of hex digits, of letters of one case with digits, of both cases. */
const bitsOf = { hex: 4, single: 5.1, mixed: 5.9 } as const;

export interface RandomRun {
  readonly alphabet: keyof typeof bitsOf;
  readonly bits: number;
}

export const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const minRunLength = 12;

/** A file name, or a member of an object. */
const ending = /\.[a-z](?:[a-z0-9]{0,5}|[A-Za-z]{0,14})$/;

/** The alphabet of a key's body, as a whole or of each long part; undefined if there are words between the parts. */
export function randomBody(body: string): RandomRun | undefined {
  if (ending.test(body)) return undefined;
  const parts = body.split(/[_.~$/+=-]+/);
  const longest = Math.max(...parts.map((part) => part.length));
  const isMixed = /[a-z]/.test(body) && /[A-Z]/.test(body);
  // In base64 one character in 32 is a sign.
  if (longest < (isMixed ? 8 : minRunLength) || parts.length > 1 + body.length / 7) return undefined;
  if (parts.some((part) => looksLikeWord(part))) return undefined;
  const random =
    randomRun(body) ?? randomParts(parts.filter((part) => part.length >= minRunLength && /\D/.test(part)));
  return random === undefined || isPlaceholder(body) ? undefined : random;
}

/** A random part after an identifier and a dot, the usual form of tokens without a prefix. */
export function randomDottedParts(key: string): RandomRun | undefined {
  const parts = key.split('.', 4);
  if (parts.length < 2 || parts.length > 3) return undefined;
  const random = parts.map((part) => randomRun(part));
  const last = random.at(-1);
  if (last === undefined || parts.some(isPlaceholder)) return undefined;
  // A short identifier proves nothing by itself, so the part after it must.
  if (random[0] === undefined)
    return isShortIdentifier(parts[0] ?? '') || /^\d{4,12}$/.test(parts[0] ?? '') ? last : undefined;
  return { alphabet: last.alphabet, bits: random[0].bits + last.bits };
}

function isShortIdentifier(part: string): boolean {
  return /^(?=.*\d)(?=.*[a-z])(?=.*[A-Z])[\w-]{6,24}$/.test(part);
}

function randomParts(parts: readonly string[]): RandomRun | undefined {
  const random = parts.map((part) => randomRun(part));
  const [first] = random;
  if (first === undefined || random.includes(undefined)) return undefined;
  return { alphabet: first.alphabet, bits: random.reduce((sum, each) => sum + (each?.bits ?? 0), 0) };
}

/** The alphabet from which a run looks randomly drawn, and its entropy in bits. Signs don't count. */
export function randomRun(run: string): RandomRun | undefined {
  const counts = countsOf(run);
  const length = counts.digits + counts.lower + counts.upper;
  const isMixed = counts.lower > 0 && counts.upper > 0;
  const alphabet = isMixed ? 'mixed' : counts.hex === length ? 'hex' : 'single';
  if (length < minRunLength || !isEven(run, alphabet, counts)) return undefined;
  return { alphabet, bits: length * bitsOf[alphabet] };
}

/** Whether kinds of characters are as frequent as in a random run, and letters don't form words. */
function isEven(run: string, alphabet: RandomRun['alphabet'], counts: Counts): boolean {
  const { digits, lower, upper, changes } = counts;
  const length = digits + lower + upper;
  switch (alphabet) {
    case 'hex':
      // Five in eight hex digits are decimal.
      return digits >= length * 0.3 && digits <= length * 0.92 && !isRepetitive(run.toLowerCase(), 6);
    case 'single':
      return digits >= 2 && digits <= length * 0.7 && isVaried(run, length);
    case 'mixed':
      return digits <= length * 0.45 && changes >= length * 0.36 && isVaried(run, length);
  }
}

function isVaried(run: string, length: number): boolean {
  return !isRepetitive(run.toLowerCase(), Math.min(10, length * 0.4)) && looksRandomThroughout(run);
}

type Counts = ReturnType<typeof countsOf>;

/** Counts kinds of characters, and how often adjacent ones are of different kinds. */
function countsOf(run: string) {
  let [digits, lower, upper, hex, changes] = [0, 0, 0, 0, 0];
  let last = 0;
  for (let at = 0; at < run.length; at += 1) {
    const code = run.charCodeAt(at);
    const kind = code < 128 ? (kinds[code] as number) : 0;
    if (kind === 0) continue;
    if (kind === kindsOf.digit) digits += 1;
    else if (kind === kindsOf.lower) lower += 1;
    else upper += 1;
    if (isHexDigit(code)) hex += 1;
    if (kind !== last && last !== 0) changes += 1;
    last = kind;
  }
  return { digits, lower, upper, hex, changes };
}

const kindsOf = { digit: 1, lower: 2, upper: 3 } as const;
const kinds = Uint8Array.from({ length: 128 }, (_, code) => {
  if (isDigit(code)) return kindsOf.digit;
  if (!isLatinLetter(code)) return 0;
  return code >= 97 ? kindsOf.lower : kindsOf.upper;
});
