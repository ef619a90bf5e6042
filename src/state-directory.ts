import { homedir } from 'node:os';
import { join } from 'node:path';

/** The directory of this user's state (XDG Base Directory specification), whether or not it exists. */
export function stateDirectory(env: Readonly<Record<string, string | undefined>>): string {
  const base = env.XDG_STATE_HOME;
  if (base?.startsWith('/')) return join(base, 'gateway');
  // An empty HOME would make it a path relative to the working directory.
  return join(env.HOME || homedir(), '.local', 'state', 'gateway');
}
