import { type Io, write } from '../shell/io.ts';
import { printable } from '../shell/print/print.ts';

/** Receives the pieces of an answer as they arrive. */
export interface AnswerPrinter {
  print(piece: string): void;
  /** Writes what was held back when an answer is cut off. */
  flush(): Promise<void>;
  /** Writes what was held back, with a line break if there is none. */
  end(): Promise<void>;
}

/** Writes every piece to a terminal at once, without anything that could control the terminal. */
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
    // The error that follows starts on a new line.
    flush: async () => {
      if (!hasPrinted || isAtLineStart) return;
      isAtLineStart = true;
      await write(stdout, '\n');
    },
    end: () => write(stdout, isAtLineStart ? '' : '\n'),
  };
}

/**
 * The raw text, for a pipe. Each whole line is one write, so that the lines of several commands that write into one
 * pipe are not mixed.
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
