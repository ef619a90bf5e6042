import { accessSync, constants, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stateDirectory } from '../../client/state.ts';
import { isOldParser, parserProblem } from '../../http/strict-head.ts';
import type { Io } from '../shell/io.ts';
import { about, type Diagnosis } from './finding.ts';

const { ok, warning, error } = about('state directory');

/** Where sessions, the local key and the running gateway's address are kept. */
export function checkStateDirectory({ env }: Io): Diagnosis[] {
  const directory = stateDirectory(env);
  const remedy = 'make it a writable directory of your own, or set XDG_STATE_HOME to one';
  try {
    const stats = statSync(directory, { throwIfNoEntry: false });
    if (stats === undefined) {
      accessSync(nearestParent(directory), constants.W_OK | constants.X_OK);
      return [ok(`${directory} will be created when it is needed`)];
    }
    if (!stats.isDirectory()) return [error(`${directory} is not a directory`, remedy)];
    const user = process.geteuid?.();
    if (user !== undefined && user !== 0 && stats.uid !== user) {
      return [error(`${directory} belongs to another user (uid ${stats.uid})`, remedy)];
    }
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
    const open = openToOthers(directory, stats.mode);
    return open.length === 0 ? [ok(directory)] : open;
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException; // what the file system throws
    return [error(`${directory} can't be used: ${code ?? message}`, remedy)];
  }
}

function nearestParent(path: string): string {
  const parent = dirname(path);
  return parent === path || statSync(parent, { throwIfNoEntry: false }) !== undefined
    ? parent
    : nearestParent(parent);
}

/** Every file there holds keys, sessions or conversations. */
function openToOthers(directory: string, mode: number): Diagnosis[] {
  if (process.geteuid === undefined) return [];
  const others = (bits: number) => (bits & 0o077) !== 0;
  const findings = others(mode)
    ? [warning(`${directory} is open to other users`, `chmod 700 ${directory}`)]
    : [];
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats?.isFile() === true && others(stats.mode)) {
      findings.push(warning(`${path} can be read by other users`, `chmod 600 ${path}`));
    }
  }
  return findings;
}

/** Whether this Node's own parts are safe to serve with. */
export function checkNode(isOld = isOldParser): Diagnosis {
  const { ok, warning } = about('node');
  const problem = parserProblem(isOld);
  return problem === undefined
    ? ok(process.version)
    : warning(problem, 'update Node, then start the gateway again');
}
