import { type Io, write } from '../shell/io.ts';
import { printable } from '../shell/printable.ts';
import type { AnswerPrinter } from './answer-printer.ts';

/** A terminal sees every piece at once, with nothing in it that a terminal would obey. */
export function terminalPrinter({ stdout, env }: Pick<Io, 'stdout' | 'env'>): AnswerPrinter {
  let hasPrinted = false;
  let isAtLineStart = false;
  return {
    print: (piece) => {
      const shown = printable(piece, env);
      if (shown === '') return;
      hasPrinted = true;
      isAtLineStart = shown.endsWith('\n');
      stdout.write(shown);
    },
    // The error that follows gets a line of its own.
    flush: async () => {
      if (!hasPrinted || isAtLineStart) return;
      isAtLineStart = true;
      await write(stdout, '\n');
    },
    end: () => write(stdout, isAtLineStart ? '' : '\n'),
  };
}

/**
 * The raw text for a pipe. Whole lines are written, each in one piece: several commands that write into one pipe
 * don't mix their lines.
 */
export function pipePrinter({ stdout }: Pick<Io, 'stdout'>): AnswerPrinter {
  let held: string[] = [];
  let isAtLineStart = false;
  return {
    print: (piece) => {
      const end = piece.lastIndexOf('\n') + 1;
      if (end > 0) {
        isAtLineStart = true;
        stdout.write(held.join('') + piece.slice(0, end));
        held = [];
      }
      if (end < piece.length) held.push(piece.slice(end));
    },
    flush: () => write(stdout, held.join('')),
    end: () => write(stdout, held.length === 0 && isAtLineStart ? '' : `${held.join('')}\n`),
  };
}
