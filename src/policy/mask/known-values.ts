import { type JsonDocument, kinds } from '../../json/json-document.ts';
import { escapeAt } from './json-depth.ts';

/** Shorter values are words that occur everywhere. */
const shortest = 6;
/** From this length on, a value is one in the middle of a word too. */
const unmistakable = 16;
/** Longer ones, such as private keys, are found by what they are. */
const longest = 512;
/** Values are looked up by so many of their first bytes. */
const prefixBytes = 24;
/** Most values that begin alike; this bounds the work. */
const mostAlike = 16;
const tableSize = 4_096;
const backslash = 0x5c;

interface Spelling {
  readonly bytes: Buffer;
  readonly placeholder: string;
}

/** A value that stands somewhere unmasked. */
export interface KnownValue {
  readonly start: number;
  readonly end: number;
  /** The string that it is in. */
  readonly entry: number;
  readonly placeholder: string;
}

/**
 * Where values that were masked in one place of a document stand in others, in which no rule recognizes them: a password
 * is one by its name in a file, and by nothing in the command that a model made with it.
 */
export function findKnownValues(
  document: JsonDocument,
  values: Iterable<readonly [value: string, placeholder: string]>,
): readonly KnownValue[] {
  const spellings = spell(values);
  if (spellings.length === 0) return [];
  const { bytes } = document;
  const found: KnownValue[] = [];
  let from = 0;
  for (const { start, candidates } of prefixesIn(bytes, spellings)) {
    if (start < from) continue;
    const match = candidates.find((each) => stands(bytes, start, each.bytes));
    if (match === undefined) continue;
    const end = start + match.bytes.length;
    const entry = stringAt(document, start, end);
    if (entry === undefined || isInEscape(bytes, start)) continue;
    found.push({ start, end, entry, placeholder: match.placeholder });
    from = end;
  }
  return found;
}

/** Each value as it is written in JSON, in JSON inside JSON, and so on. */
function spell(values: Iterable<readonly [value: string, placeholder: string]>): readonly Spelling[] {
  const spellings: Spelling[] = [];
  for (const [value, placeholder] of values) {
    if (value.length < shortest || value.length > longest) continue;
    const forms = new Set([1, 2, 3].map((depth) => escapeAt(depth, value)));
    for (const form of forms) spellings.push({ bytes: Buffer.from(form), placeholder });
  }
  return spellings;
}

interface Candidates {
  readonly start: number;
  readonly candidates: readonly Spelling[];
}

/**
 * Every place where a spelling may begin. It looks at two bytes at a time and skips as many as no spelling has before
 * them (Wu and Manber, 1994), so that a body without any is passed in strides.
 */
function* prefixesIn(bytes: Buffer, spellings: readonly Spelling[]): Generator<Candidates> {
  const length = Math.min(prefixBytes, ...spellings.map((each) => each.bytes.length));
  const strides = new Uint8Array(tableSize).fill(length - 1);
  const byPrefix = new Map<string, Spelling[]>();
  for (const spelling of spellings) {
    const prefix = spelling.bytes.toString('latin1', 0, length);
    const alike = byPrefix.get(prefix);
    if (alike !== undefined) {
      if (alike.length < mostAlike) alike.push(spelling);
      continue;
    }
    byPrefix.set(prefix, [spelling]);
    for (let at = 0; at + 1 < length; at += 1) {
      const pair = pairAt(spelling.bytes, at);
      strides[pair] = Math.min(strides[pair] as number, length - 2 - at);
    }
  }
  // The longest first, in case one is the beginning of another.
  for (const alike of byPrefix.values()) alike.sort((one, other) => other.bytes.length - one.bytes.length);
  for (let at = length - 2; at + 1 < bytes.length; ) {
    const stride = strides[pairAt(bytes, at)] as number;
    if (stride > 0) {
      at += stride;
      continue;
    }
    const start = at - length + 2;
    const candidates = byPrefix.get(bytes.toString('latin1', start, at + 2));
    if (candidates !== undefined) yield { start, candidates };
    at += 1;
  }
}

function pairAt(bytes: Buffer, at: number): number {
  return (((bytes[at] as number) * 31) ^ (bytes[at + 1] as number)) & (tableSize - 1);
}

/** Whether the value is there, as a word of its own unless it is unmistakable. */
function stands(bytes: Buffer, start: number, value: Buffer): boolean {
  const end = start + value.length;
  if (value.compare(bytes, start, end) !== 0) return false;
  if (value.length >= unmistakable) return true;
  return (
    !(isWord(bytes, start - 1) && isWord(bytes, start)) && !(isWord(bytes, end - 1) && isWord(bytes, end))
  );
}

function isWord(bytes: Buffer, at: number): boolean {
  const letter = String.fromCharCode(bytes[at] ?? 0);
  return /\w/.test(letter);
}

/** Whether the byte belongs to an escape: `\n` and a value that begins with n. */
function isInEscape(bytes: Buffer, start: number): boolean {
  let at = start;
  while (bytes[at - 1] === backslash) at -= 1;
  return (start - at) % 2 === 1;
}

/** The string that holds these bytes; entries are in the order of their bytes. */
function stringAt(document: JsonDocument, start: number, end: number): number | undefined {
  let low = 0;
  let high = document.count - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (document.start(middle) <= start) low = middle;
    else high = middle - 1;
  }
  return document.kind(low) === kinds.string && document.end(low) >= end ? low : undefined;
}
