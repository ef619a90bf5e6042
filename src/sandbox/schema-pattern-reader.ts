type Atom =
  | { readonly kind: 'character'; readonly character: string }
  | { readonly kind: 'group'; readonly alternatives: readonly (readonly Term[])[] };

export interface Term {
  readonly atom: Atom;
  readonly fewest: number;
  readonly most: number;
}

interface Cursor {
  readonly source: string;
  at: number;
}

/** Thrown and caught in this file only: the pattern uses something that is not read here. */
class Unreadable extends Error {}

const mostLength = 500;
const mostDepth = 20;
// Tried in this order for `.` and for classes that only say what is not wanted.
const samples = [...'a0A-_ .@/:1bZ!#'];
const classes: Readonly<Record<string, (character: string) => boolean>> = {
  d: (character) => /\d/.test(character),
  D: (character) => /\D/.test(character),
  w: (character) => /\w/.test(character),
  W: (character) => /\W/.test(character),
  s: (character) => /\s/.test(character),
  S: (character) => /\S/.test(character),
};
const controls: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', f: '\f', v: '\v', 0: '\0' };

/** The alternatives of a regular expression, each a row of terms; undefined for what is not read here. */
export function readPattern(source: string): readonly (readonly Term[])[] | undefined {
  if (source.length > mostLength) return undefined;
  const cursor = { source, at: 0 };
  try {
    const alternatives = readAlternatives(cursor, 0);
    return cursor.at === source.length ? alternatives : undefined;
  } catch (thrown) {
    if (thrown instanceof Unreadable) return undefined;
    throw thrown;
  }
}

function readAlternatives(cursor: Cursor, depth: number): readonly (readonly Term[])[] {
  if (depth > mostDepth) throw new Unreadable();
  const alternatives: Term[][] = [[]];
  while (cursor.at < cursor.source.length && peek(cursor) !== ')') {
    if (take(cursor, '|')) alternatives.push([]);
    else if (!take(cursor, '^') && !take(cursor, '$')) alternatives.at(-1)?.push(readTerm(cursor, depth));
  }
  return alternatives;
}

function readTerm(cursor: Cursor, depth: number): Term {
  const atom = readAtom(cursor, depth);
  const counts = readCounts(cursor);
  take(cursor, '?');
  return { atom, ...counts };
}

function readAtom(cursor: Cursor, depth: number): Atom {
  if (take(cursor, '(')) {
    if (take(cursor, '?') && !take(cursor, ':')) skipGroupName(cursor);
    const alternatives = readAlternatives(cursor, depth + 1);
    if (!take(cursor, ')')) throw new Unreadable();
    return { kind: 'group', alternatives };
  }
  if (take(cursor, '[')) return { kind: 'character', character: readClass(cursor) };
  if (take(cursor, '.')) return { kind: 'character', character: 'a' };
  if (take(cursor, '\\')) return { kind: 'character', character: firstMatching([readEscape(cursor)]) };
  const character = next(cursor);
  if ('*+?{'.includes(character)) throw new Unreadable();
  return { kind: 'character', character };
}

function skipGroupName(cursor: Cursor): void {
  const name = /^<[A-Za-z_]\w*>/.exec(cursor.source.slice(cursor.at))?.[0];
  if (name === undefined) throw new Unreadable();
  cursor.at += name.length;
}

function readCounts(cursor: Cursor): { fewest: number; most: number } {
  if (take(cursor, '*')) return { fewest: 0, most: Number.POSITIVE_INFINITY };
  if (take(cursor, '+')) return { fewest: 1, most: Number.POSITIVE_INFINITY };
  if (take(cursor, '?')) return { fewest: 0, most: 1 };
  const counted = /^\{(\d{1,5})(,(\d{1,5})?)?\}/.exec(cursor.source.slice(cursor.at, cursor.at + 16));
  if (counted === null) return { fewest: 1, most: 1 };
  cursor.at += counted[0].length;
  const fewest = Number(counted[1]);
  if (counted[2] === undefined) return { fewest, most: fewest };
  return { fewest, most: counted[3] === undefined ? Number.POSITIVE_INFINITY : Number(counted[3]) };
}

/** What one element of a class accepts: a character or a test. */
type Accepted = string | { readonly from: string; readonly to: string } | ((character: string) => boolean);

function readClass(cursor: Cursor): string {
  const isNegated = take(cursor, '^');
  const accepted: Accepted[] = [];
  while (!take(cursor, ']')) {
    const from = take(cursor, '\\') ? readEscape(cursor) : next(cursor);
    const isRange = typeof from === 'string' && peek(cursor) === '-' && cursor.source[cursor.at + 1] !== ']';
    if (!isRange) {
      accepted.push(from);
      continue;
    }
    cursor.at += 1;
    const to = take(cursor, '\\') ? readEscape(cursor) : next(cursor);
    if (typeof to !== 'string') throw new Unreadable();
    accepted.push({ from, to });
  }
  if (!isNegated) return firstMatching(accepted);
  const other = samples.find((sample) => !accepted.some((element) => accepts(element, sample)));
  if (other === undefined) throw new Unreadable();
  return other;
}

function readEscape(cursor: Cursor): string | ((character: string) => boolean) {
  const letter = next(cursor);
  const test = classes[letter];
  if (test !== undefined) return test;
  const control = controls[letter];
  if (control !== undefined) return control;
  const unicode =
    letter === 'u' ? /^[0-9a-fA-F]{4}/.exec(cursor.source.slice(cursor.at, cursor.at + 4)) : null;
  if (unicode !== null) {
    cursor.at += 4;
    return String.fromCharCode(Number.parseInt(unicode[0], 16));
  }
  // Letters and digits left over mean boundaries, back-references, properties: not read here.
  if (/[A-Za-z0-9]/.test(letter)) throw new Unreadable();
  return letter;
}

function firstMatching(accepted: readonly Accepted[]): string {
  for (const element of accepted) {
    if (typeof element === 'string') return element;
    if (typeof element === 'object') return element.from;
    const sample = samples.find((candidate) => element(candidate));
    if (sample !== undefined) return sample;
  }
  throw new Unreadable();
}

function accepts(element: Accepted, character: string): boolean {
  if (typeof element === 'string') return element === character;
  if (typeof element === 'function') return element(character);
  return element.from <= character && character <= element.to;
}

function peek(cursor: Cursor): string | undefined {
  return cursor.source[cursor.at];
}

function take(cursor: Cursor, character: string): boolean {
  if (peek(cursor) !== character) return false;
  cursor.at += 1;
  return true;
}

function next(cursor: Cursor): string {
  const code = cursor.source.codePointAt(cursor.at);
  if (code === undefined) throw new Unreadable();
  const character = String.fromCodePoint(code);
  cursor.at += character.length;
  return character;
}
