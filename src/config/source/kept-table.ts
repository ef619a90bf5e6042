import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { stateDirectory } from '../../lib/directories.ts';
import type { ModelTable } from './model-table.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The table of models that the user has taken over with `gateway models update`, or why it can't be used. */
export interface KeptTable {
  readonly path: string;
  readonly table?: ModelTable;
  readonly fault?: string;
}

const pattern = /^models-\d{4}-\d\d-\d\d-([0-9a-f]{16})\.json$/;

/** The name of the file, with the beginning of its hash (SHA-256, hex): what was changed since isn't used. */
export function keptTableName(date: string, sha256: string): string {
  return `models-${date}-${sha256.slice(0, 16)}.json`;
}

/** The files of such tables in the state directory, the latest last. */
export function keptTableNames(env: Environment): readonly string[] {
  try {
    return readdirSync(stateDirectory(env))
      .filter((name) => pattern.test(name))
      .toSorted();
  } catch {
    return []; // there is no state yet
  }
}

/** The latest table; undefined if there is none. */
export async function readKeptTable(env: Environment): Promise<KeptTable | undefined> {
  const name = keptTableNames(env).at(-1);
  if (name === undefined) return undefined;
  const path = join(stateDirectory(env), name);
  try {
    const { uid } = await stat(path);
    const own = process.geteuid?.() ?? 0;
    if (own !== 0 && uid !== own) return { path, fault: 'it belongs to another user' };
    const content = await readFile(path);
    const sha256 = createHash('sha256').update(content).digest('hex');
    if (pattern.exec(name)?.[1] !== sha256.slice(0, 16)) return { path, fault: 'it was changed' };
    return { path, table: JSON.parse(content.toString()) }; // as it was written
  } catch (error) {
    return { path, fault: `it can't be read (${(error as NodeJS.ErrnoException).code ?? 'no JSON'})` };
  }
}
