import { Readable, Writable } from 'node:stream';
import { run } from '../../src/cli/program.ts';
import { GatewayError } from '../../src/errors.ts';
import { directoryWith, emptyDirectory, ownConfiguration } from './own-configuration.ts';

interface Environment {
  readonly env?: Readonly<Record<string, string>>;
  /** What is piped in; absent: a terminal at which nobody types. */
  readonly stdin?: string | Readable;
  readonly cwd?: string;
  /** Whether stdout and stderr are a terminal. */
  readonly isTerminal?: boolean;
  /** How wide the terminal is. */
  readonly columns?: number;
  /** Whether the reader of stdout leaves at the first write, as `head -1` does. */
  readonly isReaderGone?: boolean;
}

interface Ended {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCommand {
  readonly ended: Promise<Ended>;
  /** Resolves when stdout or stderr holds the text. */
  wrote(stream: 'stdout' | 'stderr', text: string): Promise<string>;
  signal(name: 'SIGINT' | 'SIGTERM'): void;
  hangUp(): void;
}

/** Runs a command line to its end. */
export function command(argv: readonly string[], environment: Environment = {}): Promise<Ended> {
  return startCommand(argv, environment).ended;
}

/** Starts a command line in this process, with streams that are read here and a home of its own. */
export function startCommand(argv: readonly string[], environment: Environment = {}): RunningCommand {
  const home = environment.cwd ?? emptyDirectory();
  const outputs = {
    stdout: createSink(environment, environment.isReaderGone),
    stderr: createSink(environment),
  };
  const interrupt = new AbortController();
  const hangups = new Set<() => void>();
  const ended = run(argv, {
    stdin: inputOf(environment.stdin),
    stdout: outputs.stdout.stream,
    stderr: outputs.stderr.stream,
    env: Object.defineProperties(
      { HOME: home, ...ownConfiguration(home) },
      Object.getOwnPropertyDescriptors(environment.env ?? {}),
    ),
    cwd: home,
    signal: interrupt.signal,
    onHangup: (listener) => {
      hangups.add(listener);
      return () => hangups.delete(listener);
    },
    captureSignals: () => () => undefined,
    onSecondSignal: () => () => undefined,
  }).then((exit) => ({ exit, stdout: outputs.stdout.text(), stderr: outputs.stderr.text() }));
  return {
    ended,
    wrote: (stream, text) => outputs[stream].holds(text),
    signal: (name) =>
      interrupt.abort(
        new GatewayError(name === 'SIGINT' ? 'interrupted' : 'terminated', `stopped by ${name}`),
      ),
    hangUp: () => {
      for (const listener of hangups) listener();
    },
  };
}

export { directoryWith, emptyDirectory };

function inputOf(stdin: string | Readable | undefined): Readable & { isTTY?: boolean } {
  if (stdin === undefined) return Object.assign(Readable.from([]), { isTTY: true });
  return typeof stdin === 'string' ? Readable.from([Buffer.from(stdin)]) : stdin;
}

function createSink({ isTerminal, columns }: Environment, isReaderGone = false) {
  let text = '';
  const looking = new Set<() => void>();
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk);
      done(isReaderGone ? Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }) : null);
      for (const look of looking) look();
    },
  });
  stream.on('error', () => undefined); // src/main.ts listens on the real ones
  return {
    stream: isTerminal === true ? Object.assign(stream, { isTTY: true, columns }) : stream,
    text: () => text,
    holds: (wanted: string) =>
      new Promise<string>((resolve) => {
        const look = () => {
          if (!text.includes(wanted)) return;
          looking.delete(look);
          resolve(text);
        };
        looking.add(look);
        look();
      }),
  };
}
