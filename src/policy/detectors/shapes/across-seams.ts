import type { Finding, Range } from '../detector.ts';
import { isIn, isKeyCharacter, toCharacterSet } from '../text/characters.ts';

/** The characters of a key written in pieces; quotation marks, spaces and backslashes end a piece. */
const pieceCharacters = toCharacterSet(isKeyCharacter, '+/.~=:$!|');

/**
 * What separates two pieces of a key: a line break (continued, quoted or escaped), with the indentation of the next
 * line; or the quotation marks of two literals with an operator between them.
 */
const seam =
  /(?:\\?\r?\n|\\r\\n|\\n)[ \t]{0,60}(?:[>*#|][ \t]{0,8})?|\\{0,3}["'`]\s{0,60}(?:[+&.]|\|\||<>|\.\.|\\)?\s{0,60}(?:\\r?\\n)?\s{0,60}[bfru]?\\{0,3}["'`]/y;

const seamBeginnings = toCharacterSet((code) => '\\\r\n"\'`'.includes(String.fromCharCode(code)));

const maxPieces = 8;
/**
 * Most joins in one text. Keys are wrapped by accident, not to hide them (a space would do that), so a text full of key
 * prefixes need not cost more than others. A redacted text is checked again anyway.
 */
export const maxJoins = 100;

const minPieceLength = 4;

/**
 * What `find` finds at the beginning of the pieces of a possible key, the first one ending at `end`: in two of them
 * joined, then three and so on. Further ones count only if nothing else is on the last piece's line, or within its
 * quotation marks. A piece shorter than the one before it is the last, as in a wrapped line.
 */
export function findInPieces(
  text: string,
  { start, end }: Range,
  find: (joined: string) => Finding | undefined,
): Finding | undefined {
  const pieces = [{ start, end }];
  let joined = text.slice(start, end);
  let best: Finding | undefined;
  for (let last: Range = { start, end }; pieces.length < maxPieces; ) {
    const next = pieceAfter(text, last.end);
    if (next === undefined || (best !== undefined && !isEnd(text, next.end))) break;
    pieces.push(next);
    joined += text.slice(next.start, next.end);
    const found = find(joined);
    if (found !== undefined) best = { ...found, start, end: placeIn(pieces, found.end - 1) + 1 };
    if (next.end - next.start < last.end - last.start) break;
    last = next;
  }
  return best;
}

/** Whether another piece follows. */
export function isSeam(text: string, at: number): boolean {
  return pieceAfter(text, at) !== undefined;
}

const ending = /[ \t]{0,60}(?:$|\r?\n|\\{0,3}["'`]|\\[nr])/y;

function isEnd(text: string, at: number): boolean {
  ending.lastIndex = at;
  return ending.test(text);
}

const maxPieceLength = 512;

function pieceAfter(text: string, at: number): Range | undefined {
  // Most runs end otherwise, and the expression takes ten times as long to find out.
  if (!isIn(seamBeginnings, text.charCodeAt(at))) return undefined;
  seam.lastIndex = at;
  if (!seam.test(text)) return undefined;
  const start = seam.lastIndex;
  let end = start;
  while (end - start < maxPieceLength && isIn(pieceCharacters, text.charCodeAt(end))) end += 1;
  return end - start < minPieceLength ? undefined : { start, end };
}

function placeIn(pieces: readonly Range[], at: number): number {
  let left = at;
  for (const { start, end } of pieces) {
    if (left < end - start) return start + left;
    left -= end - start;
  }
  return pieces.at(-1)?.end ?? 0;
}
