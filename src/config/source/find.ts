import { constants } from 'node:fs';
import { access, type FileHandle, open } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
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

/** Reads a configuration file, unless somebody else could have written it. */
export async function readConfigFile(path: string): Promise<string> {
  const handle = await openFile(path);
  try {
    const stats = await handle.stat();
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
    if (stats.size > largestBytes) throw new GatewayError('config.invalid', `${path} is larger than 4 MiB`);
    return decode(await handle.readFile(), path);
  } finally {
    await handle.close();
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

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r');
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    const reason = code === 'ENOENT' ? 'there is no such file' : `it can not be read (${String(code)})`;
    throw new GatewayError('config.invalid', `no configuration in ${path}: ${reason}`, { cause });
  }
}

interface Explorer {
  search(from: string): Promise<{ readonly filepath: string } | null>;
}

/**
 * Searches upwards to the project's root. The class behind cosmiconfig's front door is used, because the door
 * itself first reads a configuration of its own from the working directory, `.config/config.js` included,
 * and so runs whatever code a checkout brings.
 */
async function searchProject(cwd: string): Promise<string | undefined> {
  const module = (await import('cosmiconfig/dist/Explorer.js')) as unknown as {
    Explorer: new (
      options: object,
    ) => Explorer; // its published types leave out what is internal
  };
  // The content is read again, by readConfigFile: a loader that gave it here would also follow `$import`.
  const find = (path: string) => ({ path });
  const explorer = new module.Explorer({
    moduleName: 'gateway',
    searchPlaces: places,
    searchStrategy: 'project',
    loaders: { '.yaml': find, '.yml': find },
    ignoreEmptySearchPlaces: false,
    cache: false,
    transform: (result: unknown) => result,
    metaConfigFilePath: null,
    mergeImportArrays: true,
    mergeSearchPlaces: true,
  });
  return (await explorer.search(cwd))?.filepath;
}

/** cosmiconfig passes over a file it may not read; here that would mean to run without its policies. */
async function refuseUnreadable(cwd: string): Promise<void> {
  for (const place of places) {
    const path = join(cwd, place);
    try {
      await access(path, constants.R_OK);
    } catch (cause) {
      if (cause instanceof Error && 'code' in cause && cause.code === 'EACCES') {
        throw new GatewayError('config.invalid', `${path} can not be read by this user`, { cause });
      }
    }
  }
}

function userDirectory(env: Environment): string {
  const base = env.XDG_CONFIG_HOME;
  if (base?.startsWith('/')) return join(base, 'gateway');
  return join(env.HOME ?? homedir(), '.config', 'gateway');
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false; // whatever the reason, it is not there for us
  }
}
