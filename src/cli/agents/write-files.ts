import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectory, stateDirectory } from '../../directories.ts';
import type { Io } from '../shell/io.ts';
import type { ClientName, Settings } from './clients.ts';

/** The settings with their files written to this user's state, without a key, and with the variables that name them. */
export function writeFiles(
  name: ClientName,
  { files = {}, variables, ...rest }: Settings,
  { env }: Pick<Io, 'env'>,
): Settings {
  const directory = join(stateDirectory(env), 'agents');
  const written = Object.entries(files).map(([variable, content]) => {
    makeDirectory(directory);
    const path = join(directory, `${name}.json`);
    writeFileSync(path, `${JSON.stringify(content)}\n`, { mode: 0o600 });
    return [variable, path] as const;
  });
  return { ...rest, variables: { ...variables, ...Object.fromEntries(written) } };
}
