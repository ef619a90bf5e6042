import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** What the paths of a configuration are relative to. */
export interface PathBase {
  readonly directory: string;
  readonly home: string;
}

/** The home directory that `~` stands for. */
export function homeOf(env: Readonly<Record<string, string | undefined>>): string {
  return resolve(env.HOME || homedir());
}

/** Where a path that somebody wrote leads to. Only a shell knows the home directories of other users (`~name`). */
export function absolutePath(path: string, { directory, home }: PathBase): string {
  return /^~(?:\/|$)/.test(path) ? join(home, path.slice(1)) : resolve(directory, path);
}
