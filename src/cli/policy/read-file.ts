import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { GatewayError } from '../../errors.ts';
import type { Io } from '../shell/io.ts';

// More than any body that a gateway accepts; reading a wrong file must not exhaust the memory.
const largestBytes = 256 * 2 ** 20;

/** The bytes of a file, or of standard input for `-`. Throws usage.invalid. */
export async function readFileOrInput(name: string, io: Io): Promise<Buffer> {
  if (name === '-') return readInputBytes(io);
  try {
    return await readFile(resolve(io.cwd, name), { signal: io.signal });
  } catch (cause) {
    io.signal.throwIfAborted();
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    const why = code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${String(code)})`;
    throw new GatewayError('usage.invalid', `${name}: ${why}`, { cause });
  }
}

async function readInputBytes({ stdin, signal }: Io): Promise<Buffer> {
  if (stdin.isTTY === true) {
    throw new GatewayError('usage.invalid', '- reads standard input, but that is a terminal: pipe a body in');
  }
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk as Buffer | string);
    length += bytes.length;
    if (length > largestBytes)
      throw new GatewayError('usage.invalid', 'standard input is too long for a body');
    chunks.push(bytes);
  }
  signal.throwIfAborted();
  return Buffer.concat(chunks);
}
