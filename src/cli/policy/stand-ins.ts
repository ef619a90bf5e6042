import { randomBytes } from 'node:crypto';
import type { Reference } from '../../config/source/substitute.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Made-up values for unset variables of keys and providers, so that policies can be tried where their secrets are not
 * available (in a pull request's checks). Other variables stay unset, because their meaning is not known.
 */
export function standIns(references: readonly Reference[]): Environment {
  const made: Record<string, string> = {};
  for (const { path, unset, isWhole } of references) {
    const [name] = unset;
    if (name === undefined || !isWhole) continue;
    const [section, , list] = path;
    const last = path.at(-1);
    if (section === 'providers' && last === 'base_url') made[name] = 'http://127.0.0.1:9';
    else if (section === 'providers' && last === 'api_key') made[name] ??= random();
    else if (section === 'projects' && list === 'keys' && last === 'value') made[name] ??= random();
    else if (section === 'projects' && list === 'keys' && last === 'hash') made[name] = `sha256:${random()}`;
  }
  return made;
}

function random(): string {
  return randomBytes(32).toString('hex');
}
