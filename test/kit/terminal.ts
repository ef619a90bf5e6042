import { spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';
import { onTestFinished } from 'vitest';
import { bin } from './build.ts';
import { ownConfiguration } from './own-configuration.ts';

/** A program on a pseudo-terminal, with an emulator behind it that knows what a person would see. */
export interface Terminal {
  readonly pid: number;
  readonly ended: Promise<{ readonly exit: number; readonly signal: number | undefined }>;
  /** Everything that was written, escape sequences included. */
  raw(): string;
  /** What a person sees, scrolled-off lines included, without blanks and empty lines at the end. */
  screen(): string;
  /** The character at a place of the screen with its look; the first line and column are 0. */
  cellAt(line: number, column: number): { readonly text: string; readonly isBold: boolean } | undefined;
  /** As from a keyboard: `\r` is Enter, `\x03` Ctrl-C, `\x04` Ctrl-D, `\x1b[A` the arrow up. */
  type(text: string): void;
  /** As when its window is closed. */
  close(): void;
  /** Resolves when the screen shows the text. Rejects with the screen after 20 s, or when the program ended without. */
  shows(text: string | RegExp): Promise<void>;
}

interface Environment {
  readonly home: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly columns?: number;
  readonly rows?: number;
  /** What to start in place of the gateway's command. */
  readonly program?: string;
}

const patienceMs = 20_000;

/** Starts the gateway's command (or another program) on a terminal; it is killed with the test at the latest. */
export function startTerminal(argv: readonly string[], environment: Environment): Terminal {
  const { home, env = {}, columns = 80, rows = 24, program } = environment;
  const file = program ?? process.execPath;
  const emulator = new xterm.Terminal({ cols: columns, rows, scrollback: 100_000, allowProposedApi: true });
  const child = spawn(file, program === undefined ? [bin, ...argv] : [...argv], {
    name: env.TERM ?? 'xterm-256color',
    cols: columns,
    rows,
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home, ...ownConfiguration(home), LANG: 'C.UTF-8', ...env },
  });
  let raw = '';
  let isOver = false;
  const looking = new Set<() => void>();
  const lookAgain = () => {
    for (const look of looking) look();
  };
  child.onData((text) => {
    raw += text;
    emulator.write(text, lookAgain);
  });
  // What it asks for (where the cursor is), the emulator answers.
  emulator.onData((answer) => isOver || child.write(answer));
  const ended = new Promise<{ exit: number; signal: number | undefined }>((resolve) => {
    child.onExit(({ exitCode, signal }) => {
      isOver = true;
      // What was written last may still be on its way.
      setTimeout(() => emulator.write('', lookAgain), 50);
      setTimeout(() => resolve({ exit: exitCode, signal }), 60);
    });
  });
  const screen = () => {
    const { active } = emulator.buffer;
    const lines = Array.from(
      { length: active.length },
      (_, y) => active.getLine(y)?.translateToString(true) ?? '',
    );
    return lines.join('\n').trimEnd();
  };
  onTestFinished(() => {
    if (!isOver) child.kill('SIGKILL');
    emulator.dispose();
  });
  return {
    pid: child.pid,
    ended,
    raw: () => raw,
    screen,
    cellAt: (line, column) => {
      const cell = emulator.buffer.active.getLine(line)?.getCell(column);
      return cell === undefined ? undefined : { text: cell.getChars(), isBold: cell.isBold() !== 0 };
    },
    type: (text) => child.write(text),
    close: () => (child as unknown as { destroy(): void }).destroy(), // missing in its types
    shows: (wanted) =>
      new Promise((resolve, reject) => {
        const finish = (end: () => void) => {
          looking.delete(look);
          clearTimeout(timer);
          end();
        };
        const isThere = () =>
          typeof wanted === 'string' ? screen().includes(wanted) : wanted.test(screen());
        const look = () => {
          if (isThere()) finish(resolve);
          else if (isOver) finish(() => reject(new Error(`ended without ${wanted}:\n${screen()}`)));
        };
        const timer = setTimeout(
          () => finish(() => reject(new Error(`${wanted} is not shown:\n${screen()}`))),
          patienceMs,
        );
        looking.add(look);
        look();
      }),
  };
}
