import { isRunningAt } from '../../client/address.ts';
import { GatewayError, toGatewayError } from '../../errors.ts';
import { messageOfError } from '../../lib/message-of.ts';
import { painter } from '../../lib/paint.ts';
import { programName } from './command.ts';
import { hasColour, type Io, write } from './io.ts';
import { printable } from './print/print.ts';
import { wrapped } from './print/wrapped.ts';

/** The command exits with this code, and nothing is left to say: an agent's own, or that of an end by Ctrl-C. */
export class QuietExit extends Error {
  override readonly name = 'QuietExit';
  readonly code: number;

  constructor(code: number) {
    super(`exit ${code}`);
    this.code = code;
  }
}

/** For what goes on until Ctrl-C, which then is no failure: the code stays, and nothing is said. */
export function endOfWatching(thrown: unknown, { signal }: Pick<Io, 'signal'>): unknown {
  const { reason } = signal;
  const isInterrupted = reason instanceof GatewayError && reason.code === 'interrupted';
  return isInterrupted ? new QuietExit(reason.failure.exit) : thrown;
}

/** Prints a failure on stderr, as a line or (with -o json) as one JSON object, and returns its exit code. */
export async function printError(thrown: unknown, argv: readonly string[], io: Io): Promise<number> {
  const error = toGatewayError(thrown);
  const { failure } = error;
  // The message may quote a provider, or a cause contain its words, so control characters are made visible.
  const shown = (text: string) => (io.stderr.isTTY === true ? printable(text, io.env) : text);
  if (wantsJson(argv)) {
    const { reason, message, param = null, requestId } = error;
    const recordedAs = requestId === undefined ? {} : { request_id: requestId };
    const body = { error: { type: failure.type, reason, message, param, ...recordedAs } };
    await write(io.stderr, shown(`${JSON.stringify(body)}\n`));
    return failure.exit;
  }
  const paint = painter(hasColour(io.stderr, io.env) && !argv.includes('--no-color'));
  const message = shown(error.message);
  const text = `${paint('red', 'gateway:')} ${message}${message.endsWith('\n') ? '' : '\n'}`;
  io.stderr.write(await wrapped(text, io.stderr));
  if (error.requestId !== undefined && io.stderr.isTTY === true) io.stderr.write(shown(recorded(error, io)));
  if (error.code === 'gateway.internal') io.stderr.write(shown(`${causeText(error)}\n`));
  else if (argv.includes('-v') || argv.includes('--verbose')) io.stderr.write(shown(causes(error)));
  return failure.exit;
}

/** Where in the request it was, and how to see what was recorded, if this user's own gateway recorded it. */
function recorded({ requestId, param }: GatewayError, { env }: Io): string {
  const at = param === undefined ? '' : `  at ${param}\n`;
  const isOwn = env.GATEWAY_URL ? isRunningAt(env, env.GATEWAY_URL) : true;
  const next = isOwn ? `${programName(env)} logs show ${requestId}` : `request ${requestId}`;
  return `${at}  ${next}\n`;
}

/** Whether a command line requests JSON, even if it is not a valid one. */
export function wantsJson(argv: readonly string[]): boolean {
  return argv.some(
    (word, i) =>
      /^(?:-o|--output=)(?:nd)?json$/.test(word) ||
      (/^(?:-o|--output)$/.test(word) && /^(?:nd)?json$/.test(argv[i + 1] ?? '')),
  );
}

/** The chain of causes, one per line, from the nearest to the root. */
function causes(error: GatewayError): string {
  let text = '';
  for (let { cause } = error as { cause?: unknown }; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as NodeJS.ErrnoException;
    text += `  because: ${code === undefined ? '' : `${code}: `}${messageOfError(cause)}\n`;
  }
  return text;
}

function causeText({ cause }: GatewayError): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}
