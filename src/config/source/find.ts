import { constants, existsSync, type Stats } from 'node:fs';
import { access, type FileHandle, open } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, parse, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { GatewayError } from '../../errors.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where the configuration was found, and by what. */
export interface FoundConfig {
  readonly path: string;
  readonly from: 'flag' | 'environment' | 'project' | 'user';
}

interface Search {
  readonly file?: string | undefined;
  readonly cwd: string;
  readonly env: Environment;
}

const places = [
  'gateway.yaml',
  'gateway.yml',
  '.gateway.yaml',
  '.gateway.yml',
  '.config/gateway.yaml',
  '.config/gateway.yml',
];

/** The file to use: the flag's, GATEWAY_CONFIG's, the project's, the user's; undefined when there is none. */
export async function findConfig({ file, cwd, env }: Search): Promise<FoundConfig | undefined> {
  if (file !== undefined) return { path: resolve(cwd, file), from: 'flag' };
  const named = env.GATEWAY_CONFIG;
  if (named !== undefined && named !== '') return { path: resolve(cwd, named), from: 'environment' };
  await refuseUnreadable(cwd);
  const inProject = await searchProject(cwd);
  if (inProject !== undefined) return { path: inProject, from: 'project' };
  for (const name of ['gateway.yaml', 'gateway.yml']) {
    const path = join(userDirectory(env), name);
    if (await exists(path)) return { path, from: 'user' };
  }
  return undefined;
}

/** The nearest file that a search from here could find; unlike searching, it takes no time. */
export function nearestConfig(cwd: string): string | undefined {
  const [near] = places.map((place) => join(cwd, place)).filter((path) => existsSync(path));
  const parent = dirname(cwd);
  return near ?? (parent === cwd ? undefined : nearestConfig(parent));
}

/** Where `findConfig` looks when no file is named, for a person. */
export function describeSearch({ cwd, env }: Pick<Search, 'cwd' | 'env'>): string {
  return `looked for ${places.join(', ')} from ${cwd} up to the project's root, then for gateway.yaml and gateway.yml in ${userDirectory(env)}`;
}

/**
 * Reads a configuration file, unless somebody else could have written it or it changes while it is read. A pipe is
 * read once, at the start; with `mustBeFile` it is refused without waiting for whoever writes into it.
 */
export async function readConfigFile(
  path: string,
  { mustBeFile = false }: { readonly mustBeFile?: boolean | undefined } = {},
): Promise<string> {
  for (let attempt = 0; attempt < 5; attempt += 1) {
    if (attempt > 0) await setTimeout(100);
    const handle = await openFile(path, mustBeFile ? constants.O_RDONLY | constants.O_NONBLOCK : 'r');
    try {
      const before = await handle.stat();
      if (mustBeFile && !before.isFile()) {
        throw new GatewayError('config.invalid', `${path} is no regular file, so it can't be read again`);
      }
      refuseForeign(path, before);
      if (before.size > largestBytes) {
        throw new GatewayError('config.invalid', `${path} is larger than 4 MiB`);
      }
      const bytes = await handle.readFile();
      const after = await handle.stat();
      const isStable = before.size === after.size && before.mtimeMs === after.mtimeMs;
      if (isStable || !before.isFile()) return decode(bytes, path);
    } finally {
      await handle.close();
    }
  }
  throw new GatewayError('config.invalid', `${path} changed while it was being read`);
}

function refuseForeign(path: string, stats: Stats): void {
  if (stats.isDirectory()) throw new GatewayError('config.invalid', `${path} is a directory, not a file`);
  const user = process.geteuid?.();
  if (user !== undefined && stats.uid !== user && stats.uid !== 0) {
    throw new GatewayError(
      'config.invalid',
      `${path} belongs to another user (uid ${stats.uid}): take it over with chown`,
    );
  }
  if (user !== undefined && (stats.mode & 0o002) !== 0 && stats.isFile()) {
    throw new GatewayError(
      'config.invalid',
      `${path} can be changed by everybody on this machine: chmod o-w it`,
    );
  }
}

const largestBytes = 4 * 2 ** 20;

function decode(bytes: Buffer, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    // The decoder says nothing more than this.
    throw new GatewayError('config.invalid', `${path} is not UTF-8 text`);
  }
}

async function openFile(path: string, flags: string | number): Promise<FileHandle> {
  try {
    return await open(path, flags);
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    const reason = code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${String(code)})`;
    throw new GatewayError('config.invalid', `no configuration in ${path}: ${reason}`, { cause });
  }
}

/** Searches upwards to the project's root. */
async function searchProject(cwd: string): Promise<string | undefined> {
  const { cosmiconfig } = await import('cosmiconfig');
  // The content is read again, by readConfigFile: a loader that returned it here would also follow `$import`.
  const find = (path: string) => ({ path });
  const explorer = fromRootDirectory(() =>
    cosmiconfig('gateway', {
      searchPlaces: places,
      searchStrategy: 'project',
      loaders: { '.yaml': find, '.yml': find },
      ignoreEmptySearchPlaces: false,
      cache: false,
    }),
  );
  try {
    return (await explorer.search(cwd))?.filepath;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new GatewayError('config.invalid', `the search for gateway.yaml failed: ${reason}`, { cause });
  }
}

/**
 * cosmiconfig first reads a configuration of its own from the working directory, `.config/config.js` included, and
 * so would run whatever code a checkout brings. In the root directory only the system's owner can leave one.
 */
function fromRootDirectory<Value>(create: () => Value): Value {
  const directory = process.cwd();
  process.chdir(directory); // where the way back is barred, this fails before anything has changed
  process.chdir(parse(directory).root);
  try {
    return create();
  } finally {
    process.chdir(directory);
  }
}

/** cosmiconfig passes over a file it may not read; here that would mean to run without its policies. */
async function refuseUnreadable(cwd: string): Promise<void> {
  for (const place of places) {
    const path = join(cwd, place);
    try {
      await access(path, constants.R_OK);
    } catch (cause) {
      if (cause instanceof Error && 'code' in cause && cause.code === 'EACCES') {
        throw new GatewayError('config.invalid', `${path} cannot be read by this user`, { cause });
      }
    }
  }
}

export function userDirectory(env: Environment): string {
  const base = env.XDG_CONFIG_HOME;
  if (base?.startsWith('/')) return join(base, 'gateway');
  return join(env.HOME || homedir(), '.config', 'gateway');
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false; // whatever the reason, it is not there for us
  }
}
