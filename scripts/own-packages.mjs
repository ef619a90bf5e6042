// Packages that not everybody needs are in folders of their own, installed by the first script that uses them.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const read = (file) => JSON.parse(readFileSync(file, 'utf8'));

/** Installs the packages that the folder's package.json asks for, unless they are there; false if that fails. */
export function installOwnPackages(folder) {
  if (isInstalled(folder)) return true;
  const argv = ['ci', '--loglevel=error', '--no-audit', '--no-fund'];
  return spawnSync('npm', argv, { cwd: folder, stdio: ['ignore', 2, 2] }).status === 0;
}

/** Whether every package is there, in the version it is asked for. */
function isInstalled(folder) {
  const { dependencies } = read(join(folder, 'package.json'));
  return Object.entries(dependencies).every(([name, version]) => {
    const file = join(folder, 'node_modules', name, 'package.json');
    return existsSync(file) && read(file).version === version;
  });
}
