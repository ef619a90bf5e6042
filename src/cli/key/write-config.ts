import { hash } from 'node:crypto';
import { realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { isAlive, readRunning } from '../../client/address.ts';
import { protectionOf, refuseSuccessor } from '../../config/successor.ts';
import { GatewayError } from '../../errors.ts';
import type { Io } from '../shell/io.ts';
import { loadUserConfig } from '../shell/load-config.ts';

/** Replaces the file by rename, keeping its permissions, after validating the new text. */
export async function replaceConfig(path: string, text: string, io: Io): Promise<void> {
  const target = realpathSync(path);
  const draft = `${target}.${process.pid}.new.yaml`;
  try {
    writeFileSync(draft, text, { mode: statSync(target).mode & 0o777, flag: 'wx' });
    await loadUserConfig({ config: draft }, io, { withoutUserFile: true, namedAs: target });
    renameSync(draft, target);
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause;
    const { code = '', message } = cause as NodeJS.ErrnoException; // of the file system
    throw new GatewayError('output.failed', `${target} can't be written: ${code || message}`, { cause });
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Why the running gateway will not load a file that it follows, such as the removal of the last key. */
export async function writeRefusal(path: string, io: Io): Promise<string | undefined> {
  const running = readRunning(io.env);
  if (running?.config?.path !== path || !isAlive(running.pid)) return undefined;
  const { config } = await loadUserConfig({ config: path }, io);
  return refuseSuccessor(running.config, protectionOf(config));
}

const patienceMs = 5_000;
const pollMs = 50;

/**
 * What became of a text that was written to a file: `loaded` by the running gateway that follows it, `ignored` if that took
 * too long, `unread` if none does.
 */
async function whenLoaded(path: string, text: string, io: Io): Promise<'loaded' | 'ignored' | 'unread'> {
  const wanted = hash('sha256', text);
  for (let waited = 0; ; waited += pollMs) {
    const running = readRunning(io.env);
    if (running?.config?.path !== path || !isAlive(running.pid)) return 'unread';
    if (running.config.text_hash === wanted) return 'loaded';
    if (waited >= patienceMs) return 'ignored';
    await setTimeout(pollMs, undefined, { signal: io.signal });
  }
}

/** In words for a person. */
export async function whatGatewayDid(path: string, text: string, io: Io): Promise<string> {
  const result = await whenLoaded(path, text, io);
  if (result === 'loaded') return 'the running gateway has loaded it';
  return result === 'unread'
    ? 'no gateway runs with this file'
    : 'the running gateway has not loaded it yet: its log says why, and SIGHUP makes it try';
}
