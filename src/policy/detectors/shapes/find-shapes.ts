import type { Finding, Range } from '../detector.ts';
import { keyChecksum, keyChecksumLength } from '../secrets/key-checksum.ts';
import { isMarkedPlaceholder, isPlaceholder } from '../secrets/placeholder.ts';
import { looksRandom } from '../secrets/randomness.ts';
import { type CharacterSet, codeAt, isAlphanumeric, isIn, isWordCharacter } from '../text/characters.ts';
import { findInPieces, isSeam, maxJoins } from './across-seams.ts';
import type { CharacterRun, KeyPart } from './format.ts';
import {
  type AnchorNode,
  type AnchorTree,
  beginsNowhere,
  beginsWordsOnly,
  goOn,
  plantAnchors,
  type Shape,
  services,
  toShapes,
} from './shape.ts';

const backslash = 0x5c;
const percentSign = 0x25;

export const shapes: readonly Shape[] = services.flatMap(toShapes);

const { trees, beginnings } = plantAnchors(shapes);
/** Characters of the longest escape, `\u0022`: a word begins after one. */
const maxEscapeLength = 6;

/** Finds keys by their service's shape, around the long runs of a text. Linear: every shape has a maximum length. */
export function findShapes(text: string, runs: readonly Range[]): readonly Finding[] {
  const findings: Finding[] = [];
  const search: ShapeSearch = { text, ends: new RunEnds(text), from: 0, begun: [], joins: 0 };
  for (const run of runs) {
    const first = Math.max(search.from, run.start);
    let code = codeAt(text, first);
    for (let at = first; at < run.end; at += 1) {
      const next = codeAt(text, at + 1);
      const beginning = code < 128 && next < 128 && next >= 0 ? (code << 7) | next : 0;
      code = next;
      const kind = beginnings[beginning];
      if (kind === beginsNowhere || (kind === beginsWordsOnly && !beginsWord(text, at))) continue;
      const found =
        keyAround(search, at, trees.get(beginning) as AnchorTree) ?? keyInPieces(search, at, run.end);
      if (found === undefined) continue;
      findings.push(found);
      search.begun = [];
      search.from = found.end;
      at = found.end - 1;
      code = codeAt(text, found.end);
    }
  }
  return findings;
}

interface ShapeSearch {
  readonly text: string;
  readonly ends: RunEnds;
  /** Where the last key ended. */
  from: number;
  /** Shapes whose unique anchor is at the last checked position, without a whole key. */
  begun: Shape[];
  /** Number of joins so far. */
  joins: number;
}

/** The longest key whose anchor begins here. */
function keyAround(search: ShapeSearch, at: number, tree: AnchorTree): Finding | undefined {
  const { text } = search;
  let best: Finding | undefined;
  let node: AnchorNode | undefined = tree;
  for (let end = at + 2; node !== undefined; end += 1) {
    for (const shape of node.shapes) {
      const found = shapeAround(search, at, shape);
      // With equal lengths, the one with the longer anchor.
      if (found !== undefined && (best === undefined || lengthOf(found) >= lengthOf(best))) best = found;
      if (found === undefined && shape.isUnique && shape.before.length === 0) search.begun.push(shape);
    }
    node = goOn(node, text.charCodeAt(end));
  }
  return best;
}

function lengthOf({ start, end }: Range): number {
  return end - start;
}

/** A key wrapped over lines or concatenated from literals; its first piece ends with its run. */
function keyInPieces(search: ShapeSearch, at: number, runEnd: number): Finding | undefined {
  const { text, begun } = search;
  if (begun.length === 0) return undefined;
  search.begun = [];
  if (search.joins >= maxJoins || !beginsWord(text, at) || !isSeam(text, runEnd)) return undefined;
  for (const shape of begun) {
    if (runEnd - at > shape.maxLength) continue;
    search.joins += 1;
    const best = findInPieces(text, { start: at, end: runEnd }, (joined) => {
      const found = shapeAround({ text: joined, ends: new RunEnds(joined), from: 0 }, 0, shape);
      if (found === undefined || !looksRandom(joined)) return undefined;
      return { ...found, confidence: 'likely', why: `${found.why}, in pieces` };
    });
    if (best !== undefined) return best;
  }
  return undefined;
}

type Around = Pick<ShapeSearch, 'text' | 'ends' | 'from'>;

function shapeAround({ text, ends, from }: Around, at: number, shape: Shape): Finding | undefined {
  const { anchor, before, after } = shape;
  const start = startOf(text, at, before);
  if (start < from || (shape.beginsWord && !beginsWord(text, start))) return undefined;
  const bodyStart = at + anchor.length;
  let end = bodyStart;
  for (const part of after) {
    end = endOf(text, end, part, ends);
    if (end === -1) return undefined;
  }
  // Slicing comes last: a text may have a key's prefix at every position.
  if (continues(text, end, after.at(-1) ?? anchor)) return undefined;
  const body = text.slice(start, at) + bodyOf(text, bodyStart, after, ends);
  const isStock = isPlaceholder(body);
  const isKey = shape.isFixed
    ? !isMarkedPlaceholder(body)
    : !isStock && (shape.isUnique || looksRandom(body));
  if (!isKey) return undefined;
  const whole = withScheme(text, start);
  if (whole < from) return undefined;
  const certainty = toCertainty(shape, text.slice(start, end));
  return { start: whole, end, ...certainty, ...(isStock && { confidence: 'likely' }) };
}

/** The values of the non-literal parts of a key. */
function bodyOf(text: string, start: number, parts: readonly KeyPart[], ends: RunEnds): string {
  let body = '';
  let at = start;
  for (const part of parts) {
    const end = endOf(text, at, part, ends);
    if (typeof part !== 'string') body += text.slice(at, end);
    at = end;
  }
  return body;
}

function toCertainty(
  { service, isUnique, isConfirmed }: Shape,
  key: string,
): Pick<Finding, 'confidence' | 'why'> {
  const isChecked = (service === 'GitHub' || service === 'npm') && hasChecksum(key);
  if (isChecked) return { confidence: 'certain', why: `${service}, checksum` };
  return { confidence: isUnique && isConfirmed ? 'certain' : 'likely', why: `${service}, shape` };
}

/** GitHub and npm append a CRC-32 to thirty random characters, as keys of this gateway do. */
function hasChecksum(key: string): boolean {
  const end = key.length - keyChecksumLength;
  return keyChecksum(key.slice(4, end)) === key.slice(end);
}

function startOf(text: string, at: number, before: readonly KeyPart[]): number {
  let start = at;
  for (const part of before) {
    if (typeof part === 'string') {
      start -= part.length;
      if (start < 0 || !isAt(text, part, start)) return -1;
      continue;
    }
    const least = start - part.min;
    const most = Math.max(0, start - part.max);
    while (start > most && isIn(part.set, text.charCodeAt(start - 1))) start -= 1;
    if (start > least) return -1;
  }
  return start;
}

function endOf(text: string, at: number, part: KeyPart, ends: RunEnds): number {
  if (typeof part === 'string') return isAt(text, part, at) ? at + part.length : -1;
  const end = Math.min(ends.of(part, at), at + part.max);
  if (end - at < part.min) return -1;
  if (!part.isPadded || text.charCodeAt(end) !== 61) return end;
  return text.charCodeAt(end + 1) === 61 ? end + 2 : end + 1;
}

/** Whether a word continues after the last part, so that it is no key. */
function continues(text: string, end: number, last: KeyPart): boolean {
  const code = text.charCodeAt(end);
  if (isWordCharacter(code)) return true;
  return typeof last !== 'string' && last.isPadded && isIn(last.set, code);
}

const wholeEscape = /^(?:\\[nrtbf]|%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2})$/;

/** Whether no word ends right before a position; escapes (`\n`, `%3D`, `\u0022`) are not words. */
function beginsWord(text: string, start: number): boolean {
  if (!isAlphanumeric(codeAt(text, start - 1))) return true;
  for (let at = start - 2; at >= 0 && at >= start - maxEscapeLength; at -= 1) {
    const code = text.charCodeAt(at);
    if (code === backslash || code === percentSign) return wholeEscape.test(text.slice(at, start));
  }
  return false;
}

/** A URL is found with its scheme. */
function withScheme(text: string, start: number): number {
  if (text.charCodeAt(start - 1) !== 47 || !text.startsWith('://', start - 3)) return start;
  if (text.startsWith('https', start - 8)) return start - 8;
  return text.startsWith('http', start - 7) ? start - 7 : start;
}

/** `startsWith` in a loop, in a third of its time for literals that differ early. */
function isAt(text: string, literal: string, start: number): boolean {
  for (let at = 0; at < literal.length; at += 1) {
    if (text.charCodeAt(start + at) !== literal.charCodeAt(at)) return false;
  }
  return true;
}

/** Runs at least this long are not read again for each key that might begin in them. */
const longRun = 64;

/** Finds where runs of a set end; caches the last long one of each set. */
class RunEnds {
  readonly #text: string;
  readonly #last = new Map<CharacterSet, Range>();

  constructor(text: string) {
    this.#text = text;
  }

  of({ set, max }: CharacterRun, start: number): number {
    const text = this.#text;
    const last = max > longRun ? this.#last.get(set) : undefined;
    if (last !== undefined && start >= last.start && start < last.end) return last.end;
    const limit = max > longRun ? text.length : Math.min(text.length, start + max);
    let end = start;
    while (end < limit && isIn(set, text.charCodeAt(end))) end += 1;
    if (max > longRun) this.#last.set(set, { start, end });
    return end;
  }
}
