import { stat } from 'node:fs/promises';
import { relative } from 'node:path';
import { gatewayAddress, isAlive, readRunning } from '../../client/address.ts';
import { refuseForeignState, stateDirectory } from '../../client/state.ts';
import type { LoadOptions } from '../../config/load.ts';
import { findConfig, namedPath, nearestConfig, readConfigFile } from '../../config/source/find.ts';
import { realPathOf } from '../../config/source/real-path.ts';
import { isFields } from '../../dialects/fields.ts';
import { reachableHost } from '../../http/bind.ts';
import type { CommonOptions } from './command.ts';
import type { Io } from './io.ts';
import { loadUserConfig } from './load-config.ts';
import { note } from './print/print.ts';

type Options = Pick<CommonOptions, 'config' | 'quiet'>;

/**
 * How this user's running gateway has another configuration than the one that a command was given or would find:
 * undefined if it has the same, or if there is no other.
 */
export async function otherConfiguration({ config: file }: Options, io: Io): Promise<string | undefined> {
  const { env, cwd } = io;
  const running = runningConfiguration(io);
  if (running === undefined) return undefined;
  const { url, path } = running;
  const named = file ?? (env.GATEWAY_CONFIG || undefined);
  const near = named === undefined ? nearestConfig({ cwd, env }) : namedPath(named, { cwd, env });
  if (near === undefined || near === path) return undefined;
  const own = named === undefined ? (await findConfig({ cwd, env }))?.path : near;
  if (own === undefined || (path !== null && realPathOf(own) === realPathOf(path))) return undefined;
  return `the running gateway, ${url}, has ${path ?? 'no configuration (sandbox mode)'}, not ${relative(cwd, own)}`;
}

/** Says so on stderr, with how to choose. */
export async function noteOtherConfiguration(options: Options, choice: string, io: Io): Promise<void> {
  if (options.quiet === true || io.env.GATEWAY_URL) return;
  const other = await otherConfiguration(options, io);
  if (other !== undefined) await note(`gateway: ${other}; ${choice}\n`, io);
}

/**
 * For what a gateway left behind, its records and ledger: the options with the running gateway's configuration where none
 * is named. Undefined if that one has none. A file that the gateway has not loaded as it is now counts as found, not as
 * named: what it wants may not have been allowed since.
 */
export async function followRunning<Given extends Options>(
  options: Given,
  io: Io,
): Promise<(Given & Pick<LoadOptions, 'found'>) | undefined> {
  const { env } = io;
  if (options.config !== undefined || env.GATEWAY_CONFIG || env.GATEWAY_URL) return options;
  const running = runningConfiguration(io);
  if (running === undefined) return options;
  await noteOtherConfiguration(options, 'this is about the running one; -c FILE is about another', io);
  const { path, textHash } = running;
  if (path === null) return undefined;
  const { hash } = process.getBuiltinModule('node:crypto'); // `send` doesn't need it
  const text = await readConfigFile(path, { mustBeFile: true }).catch(() => undefined); // who loads it says why
  const isLoaded = text !== undefined && hash('sha256', text) === textHash;
  return { ...options, config: path, found: { path, from: isLoaded ? 'flag' : 'project' } };
}

interface RunningConfiguration {
  readonly url: string;
  readonly path: string | null;
  /** SHA-256 of what it has loaded. */
  readonly textHash: string | undefined;
}

function runningConfiguration({ env }: Io): RunningConfiguration | undefined {
  const running = readRunning(env);
  if (running?.config === undefined || !isAlive(running.pid)) return undefined;
  const { path, text_hash: textHash } = running.config;
  return { url: running.url, path, textHash };
}

/** The gateway that a command uses: that of the --config file, else of the environment, else the running one. */
export async function gatewayTarget(options: Pick<CommonOptions, 'config' | 'quiet'>, io: Io) {
  // If both variables are set, the address is more specific.
  const file = options.config ?? (io.env.GATEWAY_URL ? undefined : io.env.GATEWAY_CONFIG || undefined);
  // Loaded only if requested: reading a configuration takes longer than sending a prompt.
  const url = file === undefined ? undefined : await addressIn(file, io);
  if (url === undefined || url === readRunning(io.env)?.url) {
    await noteOtherConfiguration(options, 'to change that: gateway stop, then gateway serve', io);
  }
  return gatewayAddress(io.env, url);
}

async function addressIn(file: string, io: Io): Promise<string> {
  const { host, port } = (await loadUserConfig({ config: file }, io)).config.server;
  return `http://${reachableHost(host)}:${port}`;
}

/** Where the running gateway writes its records, or the one of the named configuration. */
export async function recordsFile(options: CommonOptions, io: Io): Promise<string> {
  const followed = await followRunning(options, io);
  const configured =
    followed !== undefined && (await mayNameFile(followed, io))
      ? (await loadUserConfig(followed, io)).config
      : undefined;
  if (configured?.records.file !== undefined) return configured.records.file;
  refuseForeignState(io.env);
  return `${stateDirectory(io.env)}/records.jsonl`;
}

/** Whether the configuration may name another file; building all of it takes longer than searching most records. */
async function mayNameFile({ config: file }: CommonOptions, { cwd, env }: Io): Promise<boolean> {
  const found = await findConfig({ file, cwd, env });
  if (found === undefined) return false;
  const isFile = await stat(found.path).then(
    (stats) => stats.isFile(),
    () => false,
  );
  // A pipe can be read only once, and a missing file is reported by whoever loads it.
  if (!isFile) return true;
  const text = await readConfigFile(found.path);
  const { problems, value } = (await import('../../config/source/document.ts')).parseSource(text);
  return problems.length > 0 || !isFields(value) || value.records !== undefined;
}
