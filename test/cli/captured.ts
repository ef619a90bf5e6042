import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable, Writable } from 'node:stream';
import { run } from '../../src/cli/program.ts';
import { GatewayError } from '../../src/errors.ts';

export interface Captured {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCommand {
  readonly finished: Promise<Captured>;
  /** Resolves when stdout or stderr has the text. */
  said(text: string): Promise<void>;
  /** As Ctrl-C does. */
  interrupt(): void;
}

interface Environment {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Whether stdout and stderr are terminals. */
  readonly isTerminal?: boolean;
  /** The reader of stdout leaves after the first write. */
  readonly isReaderGone?: boolean;
}

export interface User {
  readonly env: Readonly<Record<string, string>>;
  start(argv: readonly string[], environment?: Environment): RunningCommand;
  run(argv: readonly string[], environment?: Environment): Promise<Captured>;
  remove(): void;
}

/** Somebody with a home directory of their own who runs commands in this process. */
export function createUser(environment: Readonly<Record<string, string>> = {}): User {
  const home = mkdtempSync(join(tmpdir(), 'plants-home-'));
  const env = { HOME: home, XDG_STATE_HOME: join(home, 'state'), TERM: 'xterm', ...environment };
  const start: User['start'] = (
    argv,
    { env: more = {}, stdin = '', isTerminal = false, isReaderGone = false } = {},
  ) => {
    const interrupt = new AbortController();
    const [stdout, stderr] = [capture(isTerminal, isReaderGone), capture(isTerminal)];
    const finished = run(argv, {
      stdin: Object.assign(Readable.from([Buffer.from(stdin)]), { isTTY: false }),
      stdout: stdout.stream,
      stderr: stderr.stream,
      env: { ...env, ...more },
      cwd: home,
      signal: interrupt.signal,
      onHangup: () => () => undefined,
      captureSignals: () => () => undefined,
      onSecondSignal: () => () => undefined,
    }).then((exit) => ({ exit, stdout: stdout.text(), stderr: stderr.text() }));
    return {
      finished,
      said: async (text) => {
        while (!`${stdout.text()}${stderr.text()}`.includes(text)) {
          await Promise.race([stdout.changed(), stderr.changed()]);
        }
      },
      interrupt: () => interrupt.abort(new GatewayError('interrupted', 'stopped by SIGINT')),
    };
  };
  return {
    env,
    start,
    run: (argv, environment) => start(argv, environment).finished,
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
}

function capture(isTerminal: boolean, isReaderGone = false) {
  let text = '';
  const changes = new PassThrough();
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      text += String(chunk);
      changes.emit('changed');
      done(isReaderGone ? Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }) : null);
    },
  });
  stream.on('error', () => undefined); // src/main.ts listens on the real ones
  return {
    stream: Object.assign(stream, { isTTY: isTerminal, columns: 100 }),
    text: () => text,
    changed: () => new Promise((resolve) => changes.once('changed', resolve)),
  };
}
