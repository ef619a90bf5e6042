import { Readable, Writable } from 'node:stream';
import { run } from '../../src/cli/program.ts';
import { ownConfiguration } from '../kit/own-configuration.ts';

interface Environment {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
}

interface Captured {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command line in this process, its streams being pipes, and gives what it wrote. */
export async function runCommand(argv: readonly string[], environment: Environment): Promise<Captured> {
  const { cwd, env = {}, stdin = '' } = environment;
  const stdout = createSink();
  const stderr = createSink();
  const exit = await run(argv, {
    stdin: Readable.from([Buffer.from(stdin)]),
    stdout: stdout.stream,
    stderr: stderr.stream,
    env: { HOME: cwd, ...ownConfiguration(cwd), ...env },
    cwd,
    signal: new AbortController().signal,
    onHangup: () => () => undefined,
    captureSignals: () => () => undefined,
    onSecondSignal: () => () => undefined,
  });
  return { exit, stdout: stdout.text(), stderr: stderr.text() };
}

function createSink(): { readonly stream: Writable; text(): string } {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      chunks.push(Buffer.from(chunk));
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString('utf8') };
}
