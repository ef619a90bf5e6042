import { chmodSync, existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

/** A directory that may be a home and, by `ownConfiguration`, the user's configuration directory at once. */
export function emptyDirectory(): string {
  const parent = mkdtempSync(join(tmpdir(), 'gateway-test-'));
  // Some tests run a command as another user.
  chmodSync(parent, 0o755);
  const directory = join(parent, 'gateway');
  mkdirSync(directory, { mode: 0o700 });
  return directory;
}

/** Files by their names: texts, bytes, or what is written as JSON. */
export type Files = Readonly<Record<string, string | object>>;

/** The same with files that only their owner can read. */
export function homeWith(files: Files): string {
  const directory = emptyDirectory();
  for (const [name, content] of Object.entries(files)) {
    const file = join(directory, name);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const isJson = typeof content !== 'string' && !Buffer.isBuffer(content);
    writeFileSync(file, isJson ? JSON.stringify(content) : content, { mode: 0o600 });
  }
  return directory;
}

/** The same with a gateway.yaml of this text. */
export function directoryWith(yaml: string): string {
  return homeWith({ 'gateway.yaml': yaml });
}

/**
 * Variables by which a gateway.yaml in a home counts as the user's own, which may have what it wants. Tests about
 * files that were found instead set XDG_CONFIG_HOME themselves.
 */
export function ownConfiguration(home: string): { readonly XDG_CONFIG_HOME?: string } {
  const isOwn = basename(home) === 'gateway' && !existsSync(join(home, '.config'));
  return isOwn ? { XDG_CONFIG_HOME: dirname(home) } : {};
}
