import { isUtf8 } from 'node:buffer';
import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { GatewayError } from '../../errors.ts';

const largestBytes = 4 * 2 ** 20;

/** A file that a person wrote: a template, a schema, a conversation. Throws usage.invalid. */
export async function readTextFile(file: string, cwd: string): Promise<string> {
  const path = resolve(cwd, file);
  let bytes: Buffer;
  try {
    const { size } = await stat(path);
    if (size > largestBytes) throw new GatewayError('usage.invalid', `${file} is larger than 4 MiB`);
    bytes = await readFile(path);
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause;
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error';
    const why = code === 'ENOENT' ? 'there is no such file' : `it can't be read (${code})`;
    throw new GatewayError('usage.invalid', `${file}: ${why}`, { cause });
  }
  if (isUtf8(bytes)) return bytes.toString().replace(/^\ufeff/, '');
  throw new GatewayError('usage.invalid', `${file} is not text in UTF-8`);
}
