import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';

/** What came of reading a file of certificates. */
export type CaFile =
  | { readonly kind: 'read'; readonly pem: string }
  | { readonly kind: 'failed'; readonly reason: string };

const certificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Reads every file of authorities, each once; paths are relative to the configuration's directory. */
export async function readCaFiles(
  files: readonly string[],
  directory: string,
): Promise<ReadonlyMap<string, CaFile>> {
  const read = [...new Set(files)].map(
    async (file) => [file, await readCaFile(resolve(directory, file))] as const,
  );
  return new Map(await Promise.all(read));
}

async function readCaFile(path: string): Promise<CaFile> {
  try {
    const certificates = (await readFile(path, 'latin1')).match(certificate) ?? [];
    if (certificates.length === 0) return { kind: 'failed', reason: 'it holds no certificate in PEM' };
    for (const each of certificates) new X509Certificate(each);
    return { kind: 'read', pem: certificates.join('\n') };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { kind: 'failed', reason: code === 'ENOENT' ? 'there is no such file' : message };
  }
}
