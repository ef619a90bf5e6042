import stringWidth from 'fast-string-width';
import { lexer, type Token, type Tokens } from 'marked';
import wrapAnsi from 'wrap-ansi';
import { type Paint, painter } from '../../lib/paint.ts';
import { type Io, write } from '../shell/io.ts';
import { hasOtherEncoding, printable } from '../shell/print/print.ts';

// How often a stream is parsed.
const intervalMs = 30;
// A longer block is shown unformatted: parsing it again for every piece would take ever longer, seconds for text made
// to be slow to parse. Code is cheap to parse, and would be cut in the middle.
const maxBlockLength = 8 * 1024;
const maxCodeLength = 256 * 1024;

/** Shows Markdown block by block: the last one is written when it is finished, as it may still become something else. */
export function markdownPrinter({ stdout, env }: Pick<Io, 'stdout' | 'env'>, isColoured: boolean) {
  const paint = painter(isColoured);
  let source = '';
  let hasBlocks = false;
  let timer: NodeJS.Timeout | undefined;
  const style = (): MarkdownStyle => {
    const isAscii = hasOtherEncoding(env);
    // The last column stays empty: some terminals wrap as soon as it is written.
    const width = Math.max(1, (stdout.columns || 80) - 1);
    return { width, paint, bullet: isAscii ? '*' : '•', rule: isAscii ? '-' : '─' };
  };
  const writeBlocks = (isOver: boolean) => {
    clearTimeout(timer);
    timer = undefined;
    const tokens = toTokens(source);
    const last = tokens.findLast(({ type }) => type !== 'space');
    const open = isOver || isTooLong(last) ? undefined : last;
    for (const token of tokens) {
      if (token === open) return;
      source = source.slice(token.raw.length);
      const lines = toLines(token, style());
      if (lines.length === 0) continue;
      stdout.write(`${hasBlocks ? '\n' : ''}${lines.join('\n')}\n`);
      hasBlocks = true;
    }
  };
  const finish = async () => {
    writeBlocks(true);
    await write(stdout, '');
  };
  return {
    print: (piece: string) => {
      for (let at = 0; at < piece.length; at += maxBlockLength) {
        source += printable(piece.slice(at, at + maxBlockLength), env);
        if (source.length > maxBlockLength) writeBlocks(false);
      }
      timer ??= setTimeout(() => writeBlocks(false), intervalMs);
    },
    flush: finish,
    end: finish,
  };
}

function isTooLong(token: Token | undefined): boolean {
  return token !== undefined && token.raw.length > (token.type === 'code' ? maxCodeLength : maxBlockLength);
}

/** Unformatted text, for what is nested too deeply to be parsed. */
function toTokens(source: string): readonly Token[] {
  try {
    return lexer(source);
  } catch {
    return [{ type: 'text', raw: source, text: source }];
  }
}

function toLines(token: Token, style: MarkdownStyle): readonly string[] {
  try {
    return markdownLines(token, style);
  } catch {
    return markdownLines({ type: 'text', raw: token.raw, text: token.raw }, style);
  }
}

interface Cells {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly align: readonly ('left' | 'right' | 'center' | null)[];
}

const gap = '  ';
const minColumnWidth = 4;

/** A table whose cells wrap to fit; if that is not enough, its rows as blocks below each other. */
function tableLines({ header, rows, align }: Cells, style: MarkdownStyle): readonly string[] {
  const room = style.width - gap.length * (header.length - 1);
  if (room < header.length * minColumnWidth) return recordLines(header, rows, style);
  const widest = header.map((title, i) =>
    Math.max(1, ...[title, ...rows.map((row) => row[i] ?? '')].map((cell) => stringWidth(cell))),
  );
  const widths = fitted(widest, room);
  const line = (row: readonly string[]) => rowLines(row, widths, align);
  return [
    ...line(header.map((title) => style.paint('bold', title))),
    style.paint('dim', widths.map((width) => style.rule.repeat(width)).join(gap)),
    ...rows.flatMap(line),
  ];
}

/** The widest columns shrink first. */
function fitted(widest: readonly number[], room: number): readonly number[] {
  const widths = [...widest];
  for (let over = widths.reduce((sum, width) => sum + width, 0) - room; over > 0; ) {
    const largest = Math.max(...widths);
    const next = Math.max(minColumnWidth, ...widths.filter((width) => width < largest));
    const share = widths.filter((width) => width === largest).length;
    const step = Math.max(1, Math.min(largest - next, Math.ceil(over / share)));
    for (let i = 0; i < widths.length && over > 0; i += 1) {
      if (widths[i] !== largest) continue;
      widths[i] = largest - step;
      over -= step;
    }
  }
  return widths;
}

function rowLines(
  row: readonly string[],
  widths: readonly number[],
  align: Cells['align'],
): readonly string[] {
  const cells = widths.map((width, i) => wrapAnsi(row[i] ?? '', width, { hard: true }).split('\n'));
  const height = Math.max(...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, y) =>
    widths
      .map((width, i) => padded(cells[i]?.[y] ?? '', width, align[i] ?? null))
      .join(gap)
      .trimEnd(),
  );
}

function padded(text: string, width: number, align: Cells['align'][number]): string {
  const free = Math.max(0, width - stringWidth(text));
  if (align === 'right') return ' '.repeat(free) + text;
  if (align !== 'center') return text + ' '.repeat(free);
  return ' '.repeat(free >> 1) + text + ' '.repeat(free - (free >> 1));
}

function recordLines(
  header: readonly string[],
  rows: Cells['rows'],
  { width, paint }: MarkdownStyle,
): readonly string[] {
  return rows.flatMap((row, y) => [
    ...(y === 0 ? [] : ['']),
    ...row.flatMap((cell, i) =>
      wrapAnsi(`${paint('bold', `${header[i] ?? ''}:`)} ${cell}`, width, { hard: true }).split('\n'),
    ),
  ]);
}

const tabWidth = 4;
// Below this width there is no room for an indent, and every word would be cut.
const minWidth = 8;

/** One block of Markdown as terminal lines. */
function markdownLines(token: Token, style: MarkdownStyle): readonly string[] {
  switch (token.type) {
    case 'space':
      return [];
    case 'heading':
      return wrapped(style.paint('bold', inline(token.tokens, style, token.text)), style);
    case 'code':
      return codeLines(token.text, style);
    case 'blockquote':
      return indented(blocks(token.tokens ?? [], narrower(style, 2)), style.paint('dim', '| '), '');
    case 'list':
      return listLines(token as Tokens.List, style); // by its type
    case 'table':
      return tableOf(token as Tokens.Table, style); // by its type
    case 'hr':
      return [style.paint('dim', style.rule.repeat(Math.min(style.width, 40)))];
    default:
      return wrapped(inline('tokens' in token ? token.tokens : undefined, style, textOf(token)), style);
  }
}

/** Blocks one below the other, separated by an empty line. */
function blocks(tokens: readonly Token[], style: MarkdownStyle): readonly string[] {
  return tokens
    .map((token) => markdownLines(token, style))
    .filter((lines) => lines.length > 0)
    .flatMap((lines, i) => (i === 0 ? lines : ['', ...lines]));
}

function codeLines(text: string, style: MarkdownStyle): readonly string[] {
  const { width, paint } = narrower(style, 2);
  return printable(text, {})
    .replaceAll('\t', ' '.repeat(tabWidth))
    .split('\n')
    .flatMap((line) => wrapAnsi(line, width, { hard: true, trim: false, wordWrap: false }).split('\n'))
    .map((line) => (line === '' ? '' : `  ${paint('cyan', line)}`));
}

function listLines({ items, ordered, start }: Tokens.List, style: MarkdownStyle): readonly string[] {
  const first = typeof start === 'number' ? start : 1;
  return items.flatMap((item, i) => {
    const sign = ordered ? `${first + i}.` : style.bullet;
    const box = item.task ? (item.checked === true ? '[x] ' : '[ ] ') : '';
    const mark = `${sign} ${box}`;
    const inner = narrower(style, mark.length);
    const tokens = item.tokens.filter(({ type }) => type !== 'checkbox');
    const lines = item.loose ? blocks(tokens, inner) : tokens.flatMap((token) => markdownLines(token, inner));
    const own = indented(lines.length === 0 ? [''] : lines, ' '.repeat(style.width - inner.width), mark);
    return item.loose && i > 0 ? ['', ...own] : own;
  });
}

function tableOf({ header, rows, align }: Tokens.Table, style: MarkdownStyle): readonly string[] {
  const toText = ({ tokens, text }: Tokens.TableCell) => inline(tokens, style, text);
  const cells = rows.map((row) => row.map(toText));
  return tableLines({ header: header.map(toText), rows: cells, align }, style);
}

/**
 * Indents lines by a mark: the first line follows the mark, the others as many spaces as it is wide; without a mark all
 * lines are indented.
 */
function indented(lines: readonly string[], indent: string, mark: string): readonly string[] {
  return lines.map((line, i) => `${i === 0 && mark !== '' ? mark : indent}${line}`.trimEnd());
}

function narrower(style: MarkdownStyle, by: number): MarkdownStyle {
  return style.width - by < minWidth ? style : { ...style, width: style.width - by };
}

function wrapped(text: string, { width }: MarkdownStyle): readonly string[] {
  return wrapAnsi(text, width, { hard: true })
    .split('\n')
    .map((line) => line.trimEnd());
}

function inline(tokens: readonly Token[] | undefined, style: MarkdownStyle, fallback: string): string {
  if (tokens === undefined) return plain(fallback);
  return tokens.map((token) => inlineText(token, style)).join('');
}

function inlineText(token: Token, style: MarkdownStyle): string {
  const { paint } = style;
  const inner = () => inline('tokens' in token ? token.tokens : undefined, style, textOf(token));
  switch (token.type) {
    case 'strong':
      return paint('bold', inner());
    case 'em':
      return paint('italic', inner());
    case 'del':
      return paint('strikethrough', inner());
    case 'codespan':
      return paint('cyan', printable(textOf(token), {}));
    case 'br':
      return '\n';
    case 'link': {
      const [text, href] = [inner(), plain(token.href)];
      const isBare = text === href || href === `mailto:${text}`;
      return isBare ? paint('underline', text) : `${text} (${paint('underline', href)})`;
    }
    case 'image':
      return `[${inner()}] (${paint('underline', plain(token.href))})`;
    default:
      return inner();
  }
}

function textOf(token: Token): string {
  return 'text' in token && typeof token.text === 'string' ? token.text : token.raw;
}

const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&nbsp;': ' ',
};

/** Marked decodes numeric character references, controls among them, so cleaning the source is not enough. */
function plain(text: string): string {
  const resolved = text.replace(/&(?:amp|lt|gt|quot|nbsp);/g, (name) => entities[name] ?? name);
  return printable(resolved, {}).replaceAll('\t', ' '.repeat(tabWidth));
}

/** How Markdown is shown on a terminal. */
interface MarkdownStyle {
  /** Maximum width of a line, in columns. */
  readonly width: number;
  readonly paint: Paint;
  readonly bullet: string;
  readonly rule: string;
}
