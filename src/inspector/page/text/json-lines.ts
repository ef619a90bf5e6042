import type { Mark } from '../../contract/exchange-detail.ts';

export type PieceKind = 'key' | 'string' | 'literal' | 'punctuation' | 'plain';

/** A part of a line, as a range of the text, so that marks keep their places. */
export interface LinePiece {
  readonly kind: PieceKind;
  readonly start: number;
  readonly end: number;
}

export interface Line {
  readonly depth: number;
  readonly pieces: readonly LinePiece[];
}

const token = /\s*("[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+)/gsy;

/**
 * Breaks JSON into indented lines without changing a character of it, so that what is shown is what was there; text
 * that is not JSON keeps its own lines. At maxLines `maxLines` lines.
 */
export function toLines(
  text: string,
  maxLines: number,
): { readonly lines: readonly Line[]; readonly hasAllLines: boolean } {
  return /^\s*[{[]/.test(text) ? jsonLines(text, maxLines) : plainLines(text, maxLines);
}

/** The text for editing: indented, with each number and string as it was written. */
export function toIndented(text: string): string {
  const { lines } = toLines(text, Number.POSITIVE_INFINITY);
  return lines
    .map(({ depth, pieces }) => '  '.repeat(depth) + pieces.map((piece) => written(text, piece)).join(''))
    .join('\n');
}

function written(text: string, { start, end }: LinePiece): string {
  const part = text.slice(start, end);
  return part === ':' ? ': ' : part;
}

function plainLines(text: string, maxLines: number) {
  const lines: Line[] = [];
  let start = 0;
  while (start <= text.length && lines.length < maxLines) {
    const found = text.indexOf('\n', start);
    const end = found === -1 ? text.length : found;
    lines.push({ depth: 0, pieces: [{ kind: 'plain', start, end }] });
    start = end + 1;
  }
  return { lines, hasAllLines: start > text.length };
}

function jsonLines(text: string, maxLines: number) {
  const lines: Line[] = [];
  let depth = 0;
  let pieces: LinePiece[] = [];
  let lineDepth = 0;
  const startLine = () => {
    if (pieces.length > 0) lines.push({ depth: lineDepth, pieces });
    pieces = [];
    lineDepth = depth;
  };
  let position = 0;
  let isOpened = false;
  for (const { 0: whole, 1: word = '' } of text.matchAll(token)) {
    if (lines.length >= maxLines) return { lines, hasAllLines: false };
    position += whole.length;
    const isClose = word === '}' || word === ']';
    if (isClose) depth = Math.max(0, depth - 1);
    // What is empty stays on its line.
    if (isOpened !== isClose) startLine();
    pieces.push({ kind: kindOf(word, text, position), start: position - word.length, end: position });
    isOpened = word === '{' || word === '[';
    if (isOpened) depth += 1;
    if (word === ',') startLine();
  }
  // A truncated string, or not JSON after all: the rest is shown as it is.
  const rest = text.slice(position).search(/\S/);
  if (rest >= 0) pieces.push({ kind: 'plain', start: position + rest, end: text.length });
  startLine();
  return { lines, hasAllLines: true };
}

function kindOf(word: string, text: string, end: number): PieceKind {
  if (/^[{}[\],:]$/.test(word)) return 'punctuation';
  if (!word.startsWith('"')) return 'literal';
  return /^\s*:/.test(text.slice(end, end + 16)) ? 'key' : 'string';
}

/** What is shown of a piece: ranges with their marks, and gaps where a long piece is shortened. */
export type Shown =
  | { readonly start: number; readonly end: number; readonly mark?: Mark }
  | { readonly hidden: number };

const maxLineLength = 1200;
const kept = 600;
const around = 120;

/** Splits a piece at its marks; unless `isOpen`, a long one is reduced to its beginning and the surroundings of marks. */
export function toShown(
  piece: LinePiece,
  marks: readonly Mark[],
  { isOpen }: { readonly isOpen: boolean },
): Shown[] {
  const inside = marks.filter(({ start, end }) => start < piece.end && end > piece.start);
  const isCut = !isOpen && piece.end - piece.start > maxLineLength;
  const windows = isCut ? windowsOf(piece, inside) : [{ start: piece.start, end: piece.end }];
  const shown: Shown[] = [];
  let position = piece.start;
  for (const { start, end } of windows) {
    if (start > position) shown.push({ hidden: start - position });
    shown.push(...split(start, end, inside));
    position = end;
  }
  if (position < piece.end) shown.push({ hidden: piece.end - position });
  return shown;
}

function windowsOf(piece: LinePiece, marks: readonly Mark[]): { start: number; end: number }[] {
  const windows = [{ start: piece.start, end: piece.start + kept }];
  for (const mark of marks.slice(0, 50)) {
    const start = Math.max(piece.start, mark.start - around);
    const end = Math.min(piece.end, Math.min(mark.end, mark.start + maxLineLength) + around);
    const last = windows.at(-1);
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end);
    else windows.push({ start, end });
  }
  return windows;
}

function split(start: number, end: number, marks: readonly Mark[]): Shown[] {
  const shown: Shown[] = [];
  let position = start;
  for (const mark of marks) {
    const from = Math.max(mark.start, position);
    const to = Math.min(mark.end, end);
    if (from >= to) continue;
    if (from > position) shown.push({ start: position, end: from });
    shown.push({ start: from, end: to, mark });
    position = to;
  }
  if (position < end) shown.push({ start: position, end });
  return shown;
}
