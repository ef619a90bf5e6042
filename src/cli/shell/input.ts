import { isUtf8 } from 'node:buffer';
import { fstatSync } from 'node:fs';
import { GatewayError } from '../../errors.ts';
import type { Io } from './io.ts';

/**
 * What a command is to work on: standard input, a blank line, the argument; `-` stands for standard input
 * alone. Standard input counts when it is a pipe, a file or a socket, so that a command in a loop or under
 * cron does not wait for a terminal that nobody types at.
 */
export async function readInput(argument: string | undefined, io: Io): Promise<string> {
  const isForced = argument === '-';
  if (isForced && io.stdin.isTTY === true) {
    throw new GatewayError(
      'usage.invalid',
      '- reads standard input, but that is a terminal: pipe the text in',
    );
  }
  const piped = isForced || hasInput(io) ? await readAll(io) : '';
  const typed = isForced ? '' : (argument ?? '');
  return [withoutLastLineEnds(piped), typed].filter((part) => part !== '').join('\n\n');
}

/** A pattern for this would take time in the square of a run of line ends. */
function withoutLastLineEnds(text: string): string {
  let end = text.length;
  while (text[end - 1] === '\n') end -= 1;
  return text.slice(0, end);
}

function hasInput({ stdin }: Io): boolean {
  if (stdin.isTTY === true) return false;
  const { fd } = stdin as { fd?: unknown };
  if (typeof fd !== 'number') return true;
  try {
    const kind = fstatSync(fd);
    return kind.isFIFO() || kind.isFile() || kind.isSocket();
  } catch {
    return false; // closed: there is nothing to read
  }
}

async function readAll({ stdin, signal }: Io): Promise<string> {
  signal.throwIfAborted();
  const chunks: Buffer[] = [];
  // Not `for await`, which takes longer to set up than reading a prompt.
  let stop: () => void = () => undefined;
  await new Promise<void>((resolve, reject) => {
    const closed = () => reject(new GatewayError('usage.invalid', 'standard input closed before its end'));
    if (stdin.closed) return closed();
    stop = () => {
      stdin.destroy();
      reject(signal.reason);
    };
    signal.addEventListener('abort', stop, { once: true });
    stdin
      .on('data', (chunk: Buffer | string) => chunks.push(Buffer.from(chunk as string)))
      .on('end', resolve)
      .on('error', reject)
      .on('close', closed);
  }).finally(() => signal.removeEventListener('abort', stop));
  const bytes = Buffer.concat(chunks);
  // Replacement characters in its place would be sent, and paid for, without a word.
  if (!isUtf8(bytes)) throw new GatewayError('usage.invalid', 'standard input is not text in UTF-8');
  return bytes.toString();
}
