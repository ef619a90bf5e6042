import { parseKey } from '../../config/build/keys.ts';
import type { Config } from '../../config/config.ts';
import { type LoginAgent, logins } from '../../config/source/logins.ts';
import { parseRunKey } from '../../lib/run-key.ts';
import { isLoggedIn } from '../agents/logins.ts';
import type { Io } from '../shell/io.ts';
import { about, type Diagnosis } from './finding.ts';

const remedies: Readonly<Record<LoginAgent, string>> = {
  claude: 'start claude and type /login',
  codex: 'run codex login',
};

/** Whether agents are logged in where the configuration counts on it, and where `run` could use it. Reads no token. */
export function checkLogins(config: Config, io: Io): readonly Diagnosis[] {
  return (Object.keys(logins) as LoginAgent[]).flatMap((agent) => {
    const { ok, warning } = about(agent);
    const name = config.findModel(logins[agent].model)?.targets[0].provider;
    const provider = name === undefined ? undefined : config.providers.get(name);
    const isIn = isLoggedIn(agent, io);
    if (provider?.credentials !== 'client') {
      return isIn ? [ok(`logged in: gateway run --login ${agent} uses it instead of a key`)] : [];
    }
    if (isIn) return [ok(`logged in: provider ${name} gets its login`)];
    return [warning(`provider ${name} takes its login, and none was found here`, remedies[agent])];
  });
}

const { ok, warning, error } = about('keys');

/** Whether anybody can call the gateway, and whether the key in this shell is one of its keys. */
export function checkKeys(config: Config, { env }: Io, nowMs: number): Diagnosis[] {
  const own = checkOwnKey(config, env);
  if (config.needsLocalKey) return [ok('no projects: the gateway makes a key for this user'), ...own];
  const records = [...config.keys.records()];
  const usable = records.filter(({ expiresMs = Number.POSITIVE_INFINITY }) => expiresMs > nowMs);
  if (usable.length === 0) {
    const reason = records.length === 0 ? 'there is no key' : 'every key has expired';
    return [
      error(`${reason}: nobody can call the gateway`, 'make one: gateway key new --project NAME'),
      ...own,
    ];
  }
  const projects = new Set(usable.map(({ project }) => project)).size;
  return [ok(`${countOf(usable.length, 'usable key')} in ${countOf(projects, 'project')}`), ...own];
}

function checkOwnKey(config: Config, env: Io['env']): Diagnosis[] {
  const key = env.GATEWAY_KEY || undefined;
  if (key === undefined) return [];
  if (parseKey(parseRunKey(key).key) === 'damaged') {
    return [
      error(
        'GATEWAY_KEY is truncated or mistyped: its checksum is wrong',
        'copy it again, or unset GATEWAY_KEY',
      ),
    ];
  }
  // GATEWAY_URL may name another gateway, whose keys are not in this file.
  if (config.needsLocalKey || env.GATEWAY_URL) return [];
  if (config.keys.find(key) !== undefined) return [];
  return [warning('GATEWAY_KEY is not a key of this configuration', 'set it to a project key, or unset it')];
}

function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
