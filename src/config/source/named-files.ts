import { X509Certificate } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { absolutePath, type PathBase } from './file-path.ts';
import type { ProblemSink } from './report.ts';

interface Failed {
  readonly kind: 'failed';
  readonly reason: string;
}

/** What came of reading a file of certificates. */
export type CaFile = { readonly kind: 'read'; readonly pem: string } | Failed;

/** What came of reading a key's file. */
export type KeyFile =
  | { readonly kind: 'read'; readonly key: string; readonly isWorldReadable: boolean }
  | Failed;

/** Reads every file that a configuration names, each once. */
export async function readEach<File extends CaFile | KeyFile>(
  files: readonly string[],
  base: PathBase,
  read: (path: string) => Promise<File>,
): Promise<ReadonlyMap<string, File | Failed>> {
  const all = [...new Set(files)].map(
    async (file) => [file, await read(absolutePath(file, base)).catch(toFailed)] as const,
  );
  return new Map(await Promise.all(all));
}

function toFailed(error: unknown): Failed {
  const { code = '', message } = error as NodeJS.ErrnoException; // of the file system, or of a certificate
  if (code === 'ENOENT') return { kind: 'failed', reason: 'there is no such file' };
  return { kind: 'failed', reason: /^E[A-Z\d]+$/.test(code) ? `it cannot be read (${code})` : message };
}

const certificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Rejects with what the system or Node says. */
export async function readCaFile(path: string): Promise<CaFile> {
  const certificates = (await readFile(path, 'latin1')).match(certificate) ?? [];
  if (certificates.length === 0) return { kind: 'failed', reason: 'it holds no certificate in PEM' };
  for (const each of certificates) new X509Certificate(each);
  return { kind: 'read', pem: certificates.join('\n') };
}

/**
 * Adds the authorities of NODE_EXTRA_CA_CERTS to those of each file. Node before 22.15 knows them only where a connection
 * has no authorities of its own.
 */
export async function withExtraAuthorities(
  files: ReadonlyMap<string, CaFile>,
  extra: string | undefined,
): Promise<ReadonlyMap<string, CaFile>> {
  if (!extra || files.size === 0) return files;
  const added = await readCaFile(resolve(extra)).catch(toFailed);
  if (added.kind === 'failed') return files; // Node has warned of it when it started
  return new Map(
    [...files].map(([name, file]) => [
      name,
      file.kind === 'read' ? { ...file, pem: `${file.pem}\n${added.pem}` } : file,
    ]),
  );
}

const maxBytes = 4096;

/** Rejects with what the system says. */
export async function readKeyFile(path: string): Promise<KeyFile> {
  const handle = await open(path, 'r');
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) return { kind: 'failed', reason: 'it is not a file' };
    if (stats.size > maxBytes) {
      return { kind: 'failed', reason: `it is larger than ${maxBytes} bytes` };
    }
    const key = (await handle.readFile('utf8')).replace(/\r?\n$/, '');
    if (!/^[\x21-\x7e]{16,512}$/.test(key)) {
      const reason = 'it must hold one key of at least 16 visible characters and nothing else';
      return { kind: 'failed', reason };
    }
    return { kind: 'read', key, isWorldReadable: process.platform !== 'win32' && (stats.mode & 0o004) !== 0 };
  } finally {
    await handle.close();
  }
}

interface NamedKeyFile {
  readonly what: 'key' | 'password';
  readonly file: string;
  /** Where the configuration names it. */
  readonly path: readonly PropertyKey[];
  readonly report: ProblemSink;
}

/** What a key's file holds; reports why it can't be used, and who else can read it. Undefined too where files are left unread. */
export function keyIn(
  result: KeyFile | undefined,
  { what, file, path, report }: NamedKeyFile,
): string | undefined {
  if (result?.kind === 'failed') report.error(path, `no ${what} in ${file}: ${result.reason}`);
  if (result?.kind !== 'read') return undefined;
  if (result.isWorldReadable) {
    report.warn(path, `every user of this machine can read ${file}`, { hint: `chmod o-r ${file}` });
  }
  return result.key;
}
