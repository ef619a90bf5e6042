import { lexer, type Token } from 'marked';
import { painter } from '../../paint.ts';
import { type Io, write } from '../shell/io.ts';
import { hasOtherEncoding, printable } from '../shell/print/print.ts';
import type { AnswerPrinter } from './answer-printer.ts';
import { type MarkdownStyle, markdownLines } from './markdown-lines.ts';

// How often a stream is parsed.
const intervalMs = 30;
// A longer block is shown unformatted: parsing it again for every piece would take ever longer, seconds for text made
// to be slow to parse. Code is cheap to parse, and would be cut in the middle.
const longestBlock = 8 * 1024;
const longestCode = 256 * 1024;

/** Shows Markdown block by block: the last one is written when it is finished, as it may still become something else. */
export function markdownPrinter(
  { stdout, env }: Pick<Io, 'stdout' | 'env'>,
  isColoured: boolean,
): AnswerPrinter {
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
    print: (piece) => {
      for (let at = 0; at < piece.length; at += longestBlock) {
        source += printable(piece.slice(at, at + longestBlock), env);
        if (source.length > longestBlock) writeBlocks(false);
      }
      timer ??= setTimeout(() => writeBlocks(false), intervalMs);
    },
    flush: finish,
    end: finish,
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
