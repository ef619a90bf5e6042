import type { Config } from '../../config/config.ts';
import { type LoginAgent, logins } from '../../config/source/logins.ts';
import { isLoggedIn } from '../agents/logins.ts';
import type { Io } from '../shell/io.ts';
import { about, type Finding } from './finding.ts';

const remedies: Readonly<Record<LoginAgent, string>> = {
  claude: 'start claude and type /login',
  codex: 'run codex login',
};

/** Whether agents are logged in where the configuration counts on it, and where `run` could use it. Reads no token. */
export function checkLogins(config: Config, io: Io): readonly Finding[] {
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
