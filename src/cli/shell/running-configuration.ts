import { relative, resolve } from 'node:path';
import { isAlive, readRunning } from '../../client/address.ts';
import { findConfig, nearestConfig } from '../../config/source/find.ts';
import { realPathOf } from '../../config/trust/real-path.ts';
import type { CommonOptions } from './command.ts';
import type { Io } from './io.ts';
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
  const near = named === undefined ? nearestConfig(cwd) : resolve(cwd, named);
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
 * is named. Undefined if that one has none.
 */
export async function followRunning<Given extends Options>(
  options: Given,
  io: Io,
): Promise<Given | undefined> {
  const { env } = io;
  if (options.config !== undefined || env.GATEWAY_CONFIG || env.GATEWAY_URL) return options;
  const running = runningConfiguration(io);
  if (running === undefined) return options;
  await noteOtherConfiguration(options, 'this is about the running one; -c FILE is about another', io);
  return running.path === null ? undefined : { ...options, config: running.path };
}

function runningConfiguration({
  env,
}: Io): { readonly url: string; readonly path: string | null } | undefined {
  const running = readRunning(env);
  if (running?.config === undefined || !isAlive(running.pid)) return undefined;
  return { url: running.url, path: running.config.path };
}
