import { open } from 'node:fs/promises';
import { resolve } from 'node:path';

/** What came of reading a key's file. */
export type KeyFile =
  | { readonly kind: 'read'; readonly key: string; readonly isWorldReadable: boolean }
  | { readonly kind: 'failed'; readonly reason: string };

const largestBytes = 4096;

/** Reads every file that a key names, each once; paths are relative to the configuration's directory. */
export async function readKeyFiles(
  files: readonly string[],
  directory: string,
): Promise<ReadonlyMap<string, KeyFile>> {
  const read = await Promise.all(
    [...new Set(files)].map(async (file) => [file, await readKeyFile(resolve(directory, file))] as const),
  );
  return new Map(read);
}

async function readKeyFile(path: string): Promise<KeyFile> {
  try {
    const handle = await open(path, 'r');
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) return { kind: 'failed', reason: 'it is not a file' };
      if (stats.size > largestBytes)
        return { kind: 'failed', reason: `it is larger than ${largestBytes} bytes` };
      const key = (await handle.readFile('utf8')).replace(/\r?\n$/, '');
      if (!/^[\x21-\x7e]{16,512}$/.test(key)) {
        return {
          kind: 'failed',
          reason: 'it must hold one key of at least 16 visible characters and nothing else',
        };
      }
      return {
        kind: 'read',
        key,
        isWorldReadable: process.platform !== 'win32' && (stats.mode & 0o004) !== 0,
      };
    } finally {
      await handle.close();
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    return {
      kind: 'failed',
      reason: code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code})`,
    };
  }
}
