import { isUtf8 } from 'node:buffer';
import type { Readable, Writable } from 'node:stream';
import { GatewayError } from '../../errors.ts';
import type { CommonOptions } from './command.ts';
import type { Io } from './io.ts';

const maxInputLength = 4_096;

/** Whether a person can be asked: both ends are terminals and --no-input was not given. */
export function canAsk({ input }: Pick<CommonOptions, 'input'>, io: Io): boolean {
  return input && io.stdin.isTTY === true && io.stderr.isTTY === true;
}

export async function askText(message: string, io: Io): Promise<string> {
  const { text, isCancel } = await import('@clack/prompts');
  return answered(await untilEnd(io, (streams) => text({ message, ...streams })), isCancel);
}

/** Asks without showing what is typed. */
export async function askPassword(message: string, io: Io): Promise<string> {
  const { password, isCancel } = await import('@clack/prompts');
  return answered(await untilEnd(io, (streams) => password({ message, ...streams })), isCancel);
}

export async function askYes(message: string, io: Io): Promise<boolean> {
  const { confirm, isCancel } = await import('@clack/prompts');
  const answer = await untilEnd(io, (streams) => confirm({ message, initialValue: false, ...streams }));
  if (isCancel(answer)) throw cancelled();
  return answer;
}

interface Choices {
  readonly choices: readonly { readonly value: string; readonly label: string; readonly hint: string }[];
  /** What is selected initially. */
  readonly initial: readonly string[];
}

/** Asks for any number of the choices. */
export async function askMany(
  message: string,
  { choices, initial }: Choices,
  io: Io,
): Promise<readonly string[]> {
  const { multiselect, isCancel } = await import('@clack/prompts');
  const answer = await untilEnd(io, (streams) =>
    multiselect({
      message,
      options: [...choices],
      initialValues: [...initial],
      required: false,
      ...streams,
    }),
  );
  if (isCancel(answer)) throw cancelled();
  return answer;
}

/** The first line of standard input, for --password-stdin. Throws usage.invalid if there is none. */
export async function readPassword(io: Io): Promise<string> {
  let bytes = Buffer.alloc(0);
  for await (const chunk of io.stdin) {
    bytes = Buffer.concat([bytes, Buffer.from(chunk)]);
    if (bytes.includes('\n') || bytes.length > maxInputLength) break;
  }
  const end = bytes.indexOf('\n');
  const first = end < 0 ? bytes : bytes.subarray(0, end);
  // With replacement characters it would be a different password.
  if (!isUtf8(first))
    throw new GatewayError('usage.invalid', 'the password on standard input is not text in UTF-8');
  const line = first.toString().replace(/\r$/, '');
  if (line === '') throw new GatewayError('usage.invalid', 'standard input has no password');
  if (line.length > maxInputLength) throw new GatewayError('usage.invalid', 'the password is too long');
  return line;
}

interface PromptStreams {
  readonly input: Readable;
  readonly output: Writable;
  readonly signal: AbortSignal;
}

/**
 * Prompts on stderr: stdout carries the answer and nothing else. Ctrl-D cancels as Ctrl-C does: the prompts' line
 * editor only closes its input then, and nothing would ever answer.
 */
async function untilEnd<Answer>(io: Io, ask: (streams: PromptStreams) => Promise<Answer>): Promise<Answer> {
  const end = new AbortController();
  let isAnswered = false;
  // An answer pauses the input too, and is known by the next tick.
  const paused = () => setImmediate(() => !isAnswered && io.stdin.isPaused() && end.abort());
  io.stdin.on('pause', paused);
  try {
    return await ask({
      input: io.stdin,
      output: io.stderr,
      signal: AbortSignal.any([io.signal, end.signal]),
    });
  } finally {
    isAnswered = true;
    io.stdin.off('pause', paused);
  }
}

function answered(value: string | symbol | undefined, isCancel: (value: unknown) => value is symbol): string {
  if (isCancel(value)) throw cancelled();
  return value ?? '';
}

function cancelled(): GatewayError {
  return new GatewayError('interrupted', 'nothing was done');
}
