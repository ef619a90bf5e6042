import { lexer, type Token } from 'marked';
import { type Io, painter, write } from '../shell/io.ts';
import { hasOtherEncoding, printable } from '../shell/printable.ts';
import type { AnswerPrinter } from './answer-printer.ts';
import { createLinePainter } from './line-painter.ts';
import { markdownLines } from './markdown-lines.ts';
import type { MarkdownStyle } from './markdown-style.ts';

const frameMs = 30;
// A longer block is shown unformatted: parsing it again for every piece would take ever longer, seconds for text made
// to be slow to parse. Code is cheap to parse, and would be cut in the middle.
const longestBlock = 8 * 1024;
const longestCode = 256 * 1024;

/**
 * Shows Markdown as it arrives. Finished blocks are written once; the last one may still become something else, so its
 * changed lines are rewritten, at most every 30 ms.
 */
export function markdownPrinter(
  { stdout, env }: Pick<Io, 'stdout' | 'env'>,
  isColoured: boolean,
): AnswerPrinter {
  const screen = createLinePainter(stdout);
  const paint = painter(isColoured);
  let source = '';
  let hasBlocks = false;
  let frame: NodeJS.Timeout | undefined;
  const style = (): MarkdownStyle => {
    const isAscii = hasOtherEncoding(env);
    // The last column stays empty: some terminals wrap as soon as it is written.
    const width = Math.max(1, (stdout.columns || 80) - 1);
    return { width, paint, bullet: isAscii ? '*' : '•', rule: isAscii ? '-' : '─' };
  };
  const showBlock = (token: Token, isOver: boolean) => {
    const lines = toLines(token, style());
    if (lines.length === 0) return;
    screen.show(hasBlocks ? ['', ...lines] : lines);
    if (!isOver) return;
    screen.settle();
    hasBlocks = true;
  };
  const render = (isOver: boolean) => {
    clearTimeout(frame);
    frame = undefined;
    const tokens = toTokens(source);
    const last = tokens.findLast(({ type }) => type !== 'space');
    const open = isOver || isTooLong(last) ? undefined : last;
    for (const token of tokens) {
      if (token === open) break;
      showBlock(token, true);
      source = source.slice(token.raw.length);
    }
    if (open !== undefined) showBlock(open, false);
  };
  return {
    print: (piece) => {
      for (let at = 0; at < piece.length; at += longestBlock) {
        source += printable(piece.slice(at, at + longestBlock), env);
        if (source.length > longestBlock) render(false);
      }
      frame ??= setTimeout(() => render(false), frameMs);
    },
    flush: async () => {
      render(true);
      await write(stdout, '');
    },
    end: async () => {
      render(true);
      await write(stdout, '');
    },
  };
}

function isTooLong(token: Token | undefined): boolean {
  return token !== undefined && token.raw.length > (token.type === 'code' ? longestCode : longestBlock);
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
