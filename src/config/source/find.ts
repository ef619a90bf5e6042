import { constants, existsSync, type Stats } from 'node:fs';
import { access, type FileHandle, lstat, open, stat } from 'node:fs/promises';
import { dirname, join, parse } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { GatewayError } from '../../errors.ts';
import { absolutePath, homeOf } from './file-path.ts';
import { realPathOf } from './real-path.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where the configuration was found, and by what. */
export interface FoundConfig {
  readonly path: string;
  readonly from: 'flag' | 'environment' | 'project' | 'user';
}

interface FileSearch {
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
export async function findConfig({ file, cwd, env }: FileSearch): Promise<FoundConfig | undefined> {
  if (file !== undefined) return { path: namedPath(file, { cwd, env }), from: 'flag' };
  const named = env.GATEWAY_CONFIG;
  if (named !== undefined && named !== '')
    return { path: namedPath(named, { cwd, env }), from: 'environment' };
  const inProject = await searchProject({ cwd, env });
  if (inProject !== undefined) return { path: inProject, from: 'project' };
  const own = await findUserFile(env);
  return own === undefined ? undefined : { path: own, from: 'user' };
}

/** Where -c or GATEWAY_CONFIG leads to: shells replace `~` neither in `--config=~/…` nor in quotation marks. */
export function namedPath(path: string, { cwd, env }: Pick<FileSearch, 'cwd' | 'env'>): string {
  return absolutePath(path, { directory: cwd, home: homeOf(env) });
}

/** The user's own file, whether or not another one is used. Throws config.invalid for one that can't be read. */
export async function findUserFile(env: Environment): Promise<string | undefined> {
  for (const path of userFiles(env)) {
    if ((await statsOf(path)) !== undefined) return path;
  }
  return undefined;
}

/** The file in `~/.config` that isn't the user's own because XDG_CONFIG_HOME leads elsewhere, where there is none. */
export async function unusedUserFile(env: Environment): Promise<string | undefined> {
  const usual = { ...env, XDG_CONFIG_HOME: undefined };
  if (userDirectory(env) === userDirectory(usual) || (await findUserFile(env)) !== undefined)
    return undefined;
  return userFiles(usual).find((path) => existsSync(path));
}

/** Where the user's own file may be; the first that exists is used. */
export function userFiles(env: Environment): readonly string[] {
  return ['gateway.yaml', 'gateway.yml'].map((name) => join(userDirectory(env), name));
}

/** The nearest file that a search from here could find; unlike searching, it takes no time. */
export function nearestConfig(search: Pick<FileSearch, 'cwd' | 'env'>): string | undefined {
  return searchedFiles(search).find((path) => existsSync(path));
}

/** Where `findConfig` looks when no file is named, for a person. */
export function describeSearch({ cwd, env }: Pick<FileSearch, 'cwd' | 'env'>): string {
  return `looked for ${places.join(', ')} from ${cwd} up to ${searchRoot({ cwd, env })}, then for gateway.yaml and gateway.yml in ${userDirectory(env)}`;
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
      refuseUnfit(path, before, mustBeFile);
      const limit = before.isFile() ? before.size : maxBytes;
      const bytes = await readUpTo(handle, limit + 1);
      if (!before.isFile()) return decode(bytes.length > limit ? tooLarge(path) : bytes, path);
      const after = await handle.stat();
      const isStable = before.size === after.size && before.mtimeMs === after.mtimeMs;
      if (isStable && bytes.length === before.size) return decode(bytes, path);
      // Files that the system makes up, such as those in /proc, may hold the environment.
      if (after.size === 0 && bytes.length > 0) throw unfit(`${path} is no regular file`);
    } finally {
      await handle.close();
    }
  }
  throw unfit(`${path} changed while it was being read`);
}

/** Throws config.invalid for a file that is not to be read: no text file, too large, or open to others. */
function refuseUnfit(path: string, stats: Stats, mustBeFile: boolean): void {
  if (stats.isDirectory()) throw unfit(`${path} is a directory, no regular file`);
  const isPipe = stats.isFIFO() && !mustBeFile;
  if (!stats.isFile() && !isPipe) throw unfit(`${path} is no regular file, such as a device or a pipe`);
  const user = process.geteuid?.();
  if (user !== undefined && stats.uid !== user && stats.uid !== 0) {
    throw unfit(`${path} belongs to another user (uid ${stats.uid}): take it over with chown`);
  }
  if (user !== undefined && (stats.mode & 0o002) !== 0 && stats.isFile()) {
    throw unfit(`${path} can be changed by everybody on this machine: chmod o-w it`);
  }
  if (stats.size > maxBytes) tooLarge(path);
}

const maxBytes = 4 * 2 ** 20;

function tooLarge(path: string): never {
  throw unfit(`${path} is larger than 4 MiB`);
}

function unfit(message: string, cause?: unknown): GatewayError {
  return new GatewayError('config.invalid', message, { cause });
}

async function readUpTo(handle: FileHandle, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let left = limit; left > 0; ) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(Math.min(left, 65_536)));
    if (bytesRead === 0) break;
    chunks.push(buffer.subarray(0, bytesRead));
    left -= bytesRead;
  }
  return Buffer.concat(chunks);
}

function decode(bytes: Buffer, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    // The decoder says nothing more than this.
    throw unfit(`${path} is not UTF-8 text`);
  }
}

async function openFile(path: string, flags: string | number): Promise<FileHandle> {
  try {
    return await open(path, flags);
  } catch (cause) {
    const code = codeOf(cause);
    const reason = code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${String(code)})`;
    throw unfit(`no configuration in ${path}: ${reason}`, cause);
  }
}

/** The last directory that is searched: the root of the repository or the home directory, whichever is nearer. */
function searchRoot({ cwd, env }: Pick<FileSearch, 'cwd' | 'env'>): string {
  const home = homeOf(env);
  const homes = [home, realPathOf(home)];
  // In a worktree and in a submodule `.git` is a file.
  const isRoot = (directory: string) => homes.includes(directory) || existsSync(join(directory, '.git'));
  return ancestors(cwd).find(isRoot) ?? parse(cwd).root;
}

function ancestors(directory: string): readonly string[] {
  const parent = dirname(directory);
  return parent === directory ? [directory] : [directory, ...ancestors(parent)];
}

/** All that a search reads, in its order. */
function searchedFiles(search: Pick<FileSearch, 'cwd' | 'env'>): readonly string[] {
  const directories = ancestors(search.cwd);
  const searched = directories.slice(0, directories.indexOf(searchRoot(search)) + 1);
  return searched.flatMap((directory) => places.map((place) => join(directory, place)));
}

/** Searches upwards to the root of the repository, or to the home directory. */
async function searchProject(search: Pick<FileSearch, 'cwd' | 'env'>): Promise<string | undefined> {
  if (!(await mayBeRead(search))) return undefined;
  const { cosmiconfig } = await import('cosmiconfig');
  // The content is read again, by readConfigFile: a loader that returned it here would also follow `$import`.
  const find = (path: string) => ({ path });
  // It ends in a directory of the system's for programs of this name, where it looks for other files.
  const pass = () => null;
  const explorer = fromRootDirectory(() =>
    cosmiconfig('gateway', {
      searchPlaces: places,
      searchStrategy: 'global',
      stopDir: searchRoot(search),
      loaders: {
        ...{ '.yaml': find, '.yml': find },
        ...{ '.json': pass, '.js': pass, '.cjs': pass, '.mjs': pass, '.ts': pass, noExt: pass },
      },
      ignoreEmptySearchPlaces: false,
      cache: false,
    }),
  );
  try {
    const path = (await explorer.search(search.cwd))?.filepath;
    return path !== undefined && searchedFiles(search).includes(path) ? path : undefined;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw unfit(`the search for gateway.yaml failed: ${reason}`, cause);
  }
}

/**
 * Whether there is a file to find. Throws config.invalid for one that is not to be read: cosmiconfig would read all of a
 * device, wait for a pipe, and pass over a file that this user may not read, so that its policies would be missing.
 */
async function mayBeRead(search: Pick<FileSearch, 'cwd' | 'env'>): Promise<boolean> {
  for (const path of searchedFiles(search)) {
    const stats = await statsOf(path);
    if (stats === undefined || stats.isDirectory()) continue;
    refuseUnfit(path, stats, true);
    await access(path, constants.R_OK).catch((cause: unknown) => {
      throw unfit(`${path} cannot be read by this user`, cause);
    });
    return true;
  }
  return false;
}

/** Undefined if nothing is there. Throws config.invalid where this can't be known, or a link leads nowhere. */
async function statsOf(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (cause) {
    const code = codeOf(cause);
    const isMissing = code === 'ENOENT' || code === 'ENOTDIR';
    if (isMissing && !(await isLink(path))) return undefined;
    if (isMissing) throw unfit(`${path} is a link to a file that does not exist`, cause);
    // A service may have a home that is another user's, which it can't enter.
    if (code === 'EACCES' && (await isOfAnother(dirname(path)))) return undefined;
    throw unfit(`${path} cannot be read by this user (${String(code)})`, cause);
  }
}

function isLink(path: string): Promise<boolean> {
  return lstat(path).then(
    (stats) => stats.isSymbolicLink(),
    () => false,
  );
}

/**
 * Whether a directory, or the nearest one above it that can be looked at, belongs to another user, and so does the one
 * around it: a directory of root's in the user's own home is an accident.
 */
async function isOfAnother(directory: string): Promise<boolean> {
  const user = process.geteuid?.();
  for (const each of ancestors(directory)) {
    const stats = await stat(each).catch(() => undefined);
    if (stats === undefined) continue;
    const around = await stat(dirname(each)).catch(() => undefined);
    return user !== undefined && stats.uid !== user && around?.uid !== user;
  }
  return false;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/**
 * cosmiconfig first reads a configuration of its own from the working directory, `.config/config.js` included, and
 * so would run any code that a checkout brings. In the root directory only the system's owner can leave one.
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

export function userDirectory(env: Environment): string {
  const base = env.XDG_CONFIG_HOME;
  if (base?.startsWith('/')) return join(base, 'gateway');
  return join(homeOf(env), '.config', 'gateway');
}
