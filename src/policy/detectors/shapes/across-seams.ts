import { isIn, isKeyCharacter, toCharacterSet } from '../text/characters.ts';

/** What a key is made of where it is written in pieces; quotation marks, blanks and backslashes end a piece. */
const pieceCharacters = toCharacterSet(
  (code) => isKeyCharacter(code) || '+/.~=:$!|'.includes(String.fromCharCode(code)),
);

/**
 * What stands between two pieces of a key: a line's end, also one that is continued, quoted or escaped, with the
 * indentation of the next line; or the quotation marks of two literals with an operator between them.
 */
const seam =
  /(?:\\?\r?\n|\\r\\n|\\n)[ \t]{0,60}(?:[>*#|][ \t]{0,8})?|\\{0,3}["'`]\s{0,60}(?:[+&.]|\|\||<>|\.\.|\\)?\s{0,60}(?:\\r?\\n)?\s{0,60}[bfru]?\\{0,3}["'`]/y;

const seamBeginnings = toCharacterSet((code) => '\\\r\n"\'`'.includes(String.fromCharCode(code)));

const mostPieces = 8;
/**
 * So often pieces are joined in one text. Keys are wrapped by accident, not to hide them (a blank would do), so a text full
 * of beginnings need not cost more than others; what a redaction leaves is checked again.
 */
export const mostJoins = 100;

const shortestPiece = 4;

/** The pieces of a key from a place on, put together. */
export interface Joined {
  readonly text: string;
  /** Whether nothing else stands on the line of the last piece, or within its quotation marks. */
  readonly isLastAlone: boolean;
  /** Where a place in the joined text stands in the text as it was given. */
  readonly placeOf: (at: number) => number;
}

/**
 * Joins what may be a key in pieces, of which the first ends at `end`: with two pieces, with three and so on. A piece that
 * is shorter than the one before it is the last, as where a long line was wrapped.
 */
export function* joinPieces(text: string, start: number, end: number): Generator<Joined> {
  const pieces = [{ start, end }];
  let joined = text.slice(start, end);
  for (let last = { start, end }; pieces.length < mostPieces; ) {
    const next = pieceAfter(text, last.end);
    if (next === undefined) return;
    pieces.push(next);
    joined += text.slice(next.start, next.end);
    yield { text: joined, isLastAlone: isEnd(text, next.end), placeOf: (at) => placeIn(pieces, at) };
    if (next.end - next.start < last.end - last.start) return;
    last = next;
  }
}

/** Whether the text goes on in another piece. */
export function isSeam(text: string, at: number): boolean {
  return pieceAfter(text, at) !== undefined;
}

const ending = /[ \t]{0,60}(?:$|\r?\n|\\{0,3}["'`]|\\[nr])/y;

function isEnd(text: string, at: number): boolean {
  ending.lastIndex = at;
  return ending.test(text);
}

interface Piece {
  readonly start: number;
  readonly end: number;
}

const longestPiece = 512;

function pieceAfter(text: string, at: number): Piece | undefined {
  // Most runs end with something else, and an expression takes ten times as long to say so.
  if (!isIn(seamBeginnings, text.charCodeAt(at))) return undefined;
  seam.lastIndex = at;
  if (!seam.test(text)) return undefined;
  const start = seam.lastIndex;
  let end = start;
  while (end - start < longestPiece && isIn(pieceCharacters, text.charCodeAt(end))) end += 1;
  return end - start < shortestPiece ? undefined : { start, end };
}

function placeIn(pieces: readonly Piece[], at: number): number {
  let left = at;
  for (const { start, end } of pieces) {
    if (left < end - start) return start + left;
    left -= end - start;
  }
  return pieces.at(-1)?.end ?? 0;
}
