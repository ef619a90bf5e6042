import { Readable, Writable } from 'node:stream';
import { expect } from 'vitest';
import { run } from '../../src/cli/program.ts';
import { GatewayError } from '../../src/errors.ts';
import {
  directoryWith,
  emptyDirectory,
  type Files,
  homeWith,
  ownConfiguration,
} from './own-configuration.ts';
import { stopAtEnd } from './started.ts';

export interface Environment {
  readonly env?: Readonly<Record<string, string>>;
  /** What is in the home before it starts. */
  readonly files?: Files;
  /** The gateway that is called, where it is not the one of the home. */
  readonly gateway?: { readonly url: string; readonly key: string };
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

/** What a command left; compared with `toEqual`, it is exit code, stdout and stderr. */
class Ended {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly #home: string;

  constructor(exit: number, stdout: string, stderr: string, home: string) {
    this.exit = exit;
    this.stdout = stdout;
    this.stderr = stderr;
    this.#home = home;
  }

  /** Where it ran. */
  get home(): string {
    return this.#home;
  }

  /** What it printed with `-o json`. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into documents of every shape
  get json(): any {
    return JSON.parse(this.stdout);
  }

  /** What it printed with `-o ndjson`. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into documents of every shape
  get lines(): any[] {
    return this.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  }

  /** The error that it wrote with `-o json`. */
  get error(): {
    readonly reason: string;
    readonly message: string;
    readonly param: string | null;
    readonly request_id?: string;
  } {
    return JSON.parse(this.stderr).error;
  }
}

/** What is expected of a command that succeeds: this on stdout, and nothing on stderr. */
export function printed(stdout: unknown = ''): object {
  return { exit: 0, stdout, stderr: '' };
}

/** What is expected of a command that fails: nothing on stdout, and on stderr this among other words. */
export function failure(exit: number, words: string | RegExp): object {
  const stderr = typeof words === 'string' ? expect.stringContaining(words) : expect.stringMatching(words);
  return { exit, stdout: '', stderr };
}

export interface RunningCommand {
  readonly ended: Promise<Ended>;
  /** Resolves when stdout or stderr holds the text. */
  wrote(stream: 'stdout' | 'stderr', text: string): Promise<string>;
  signal(name: 'SIGINT' | 'SIGTERM'): void;
  hangUp(): void;
}

/** Runs a command line to its end: its words, or a line of words without blanks. */
export function command(argv: string | readonly string[], environment: Environment = {}): Promise<Ended> {
  return startCommand(argv, environment).ended;
}

/** Starts a command line in this process, with streams that are read here and a home of its own. */
export function startCommand(
  argv: string | readonly string[],
  environment: Environment = {},
): RunningCommand {
  const home = environment.cwd ?? homeWith(environment.files ?? {});
  const { gateway } = environment;
  const outputs = {
    stdout: createSink(environment, environment.isReaderGone),
    stderr: createSink(environment),
  };
  const interrupt = new AbortController();
  const hangups = new Set<() => void>();
  const ended = run(typeof argv === 'string' ? argv.split(' ') : argv, {
    stdin: inputOf(environment.stdin),
    stdout: outputs.stdout.stream,
    stderr: outputs.stderr.stream,
    env: Object.defineProperties(
      {
        HOME: home,
        ...ownConfiguration(home),
        ...(gateway === undefined ? {} : { GATEWAY_URL: gateway.url, GATEWAY_KEY: gateway.key }),
      },
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
  }).then((exit) => new Ended(exit, outputs.stdout.text(), outputs.stderr.text(), home));
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

export interface Serving extends RunningCommand {
  readonly home: string;
  readonly url: string;
  /** Ends it as SIGTERM does, at the end of the file at the latest. */
  stop(): Promise<Ended>;
}

/** The setting without which `serve` starts a store for plants too. */
export const withoutStore = 'plants: { store: { enabled: false } }\n';

/** `gateway serve` on some free port, in this process, ready for requests: in sandbox mode where no files are given. */
export async function startServing(
  environment: Environment = {},
  ...options: readonly string[]
): Promise<Serving> {
  const { files = { 'gateway.yaml': withoutStore }, cwd: home = homeWith(files) } = environment;
  const running = startCommand(['serve', '-p', '0', '--log', 'json', ...options], {
    ...environment,
    cwd: home,
  });
  const log = await Promise.race([
    running.wrote('stderr', '"listening"'),
    running.ended.then(({ stderr }) => Promise.reject(new Error(stderr))),
  ]);
  const stop = () => {
    running.signal('SIGTERM');
    return running.ended;
  };
  stopAtEnd(stop);
  return { ...running, home, url: /"url":"([^"]+)"/.exec(log)?.[1] ?? '', stop };
}

export { directoryWith, emptyDirectory, homeWith };

function inputOf(stdin: string | Readable | undefined): Readable & { isTTY?: boolean } {
  if (stdin === undefined) return Object.assign(Readable.from([]), { isTTY: true });
  return typeof stdin === 'string' ? Readable.from([Buffer.from(stdin)]) : stdin;
}

/** What a spinner calls, if a command takes long enough to show one. */
const cursor = { cursorTo: () => true, moveCursor: () => true, clearLine: () => true };

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
    stream: isTerminal === true ? Object.assign(stream, { isTTY: true, columns, ...cursor }) : stream,
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
