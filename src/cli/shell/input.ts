import { isUtf8 } from 'node:buffer';
import { fstatSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { GatewayError } from '../../errors.ts';
import type { Io } from './io.ts';

const maxBytes = 4 * 2 ** 20;

/** A file that a person wrote: a template, a schema, a conversation. Throws usage.invalid. */
export async function readTextFile(file: string, cwd: string): Promise<string> {
  const path = resolve(cwd, file);
  let bytes: Buffer;
  try {
    const { size } = await stat(path);
    if (size > maxBytes) throw new GatewayError('usage.invalid', `${file} is larger than 4 MiB`);
    bytes = await readFile(path);
  } catch (cause) {
    throw unreadable(file, cause);
  }
  if (isUtf8(bytes)) return bytes.toString().replace(/^\ufeff/, '');
  throw new GatewayError('usage.invalid', `${file} is not text in UTF-8`);
}

/** The error (usage.invalid) for a file that can't be read; one that says more by itself is kept. */
export function unreadable(file: string, cause: unknown): GatewayError {
  if (cause instanceof GatewayError) return cause;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error';
  const why = code === 'ENOENT' ? 'there is no such file' : `it can't be read (${code})`;
  return new GatewayError('usage.invalid', `${file}: ${why}`, { cause });
}

/** More than any body that a gateway accepts; reading a wrong file must not exhaust the memory. */
const maxBodyBytes = 256 * 2 ** 20;

/** The bytes of a request's body: of a file, or of standard input for `-`. Throws usage.invalid. */
export async function readFileOrInput(name: string, io: Io): Promise<Buffer> {
  if (name === '-') return readStandardInput(io, maxBodyBytes);
  try {
    return await readFile(resolve(io.cwd, name), { signal: io.signal });
  } catch (cause) {
    io.signal.throwIfAborted();
    throw unreadable(name, cause);
  }
}

/** Bytes: twice what the gateway accepts by default; endless input must not fill the memory. */
export const maxInputBytes = 64 * 2 ** 20;

/**
 * A command's input: standard input, a blank line, the argument; `-` means standard input alone. Standard input is used if
 * it is a pipe, a file or a socket, so that a command in a loop or under cron does not wait for a terminal.
 */
export async function readInput(
  argument: string | undefined,
  io: Pick<Io, 'stdin' | 'signal'>,
): Promise<string> {
  const isForced = argument === '-';
  const piped = isForced || hasInput(io) ? decodeUtf8(await readStandardInput(io)) : '';
  const typed = isForced ? '' : (argument ?? '');
  return [withoutLastLineEnds(piped), typed].filter((part) => part !== '').join('\n\n');
}

/** The bytes of standard input up to its end. Throws usage.invalid for a terminal, and for what is too large. */
export async function readStandardInput(
  { stdin, signal }: Pick<Io, 'stdin' | 'signal'>,
  most = maxInputBytes,
): Promise<Buffer<ArrayBuffer>> {
  if (stdin.isTTY === true) {
    throw new GatewayError(
      'usage.invalid',
      '- reads standard input, but that is a terminal: pipe the text in',
    );
  }
  signal.throwIfAborted();
  const chunks: Buffer[] = [];
  let length = 0;
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
      .on('data', (chunk: Buffer | string) => {
        const bytes = Buffer.from(chunk as string);
        length += bytes.length;
        chunks.push(bytes);
        if (length <= most) return;
        reject(tooLarge('standard input', most));
        stdin.destroy();
      })
      .on('end', resolve)
      .on('error', reject)
      .on('close', closed);
  }).finally(() => signal.removeEventListener('abort', stop));
  return Buffer.concat(chunks);
}

export function tooLarge(what: string, most = maxInputBytes): GatewayError {
  return new GatewayError('usage.invalid', `${what} is larger than ${most / 2 ** 20} MiB`);
}

/** Not a regular expression, which would take quadratic time for a run of line ends. */
function withoutLastLineEnds(text: string): string {
  let end = text.length;
  while (text[end - 1] === '\n') end -= 1;
  return text.slice(0, end);
}

/** Standard input as text. Throws usage.invalid: otherwise replacement characters would silently be sent, and paid for. */
export function decodeUtf8(bytes: Buffer, advice = '; -f - attaches images, PDF and audio'): string {
  if (isUtf8(bytes)) return bytes.toString();
  throw new GatewayError('usage.invalid', `standard input is not text in UTF-8${advice}`);
}

/** Whether standard input is a pipe, a file or a socket. */
export function hasInput({ stdin }: Pick<Io, 'stdin'>): boolean {
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
