#!/usr/bin/env node
// All tests: both tiers, the generators at full scale, and what needs packages that the checkout doesn't have, each in a
// folder of its own: OpenAI's SDK once more in its newest line, which wants a newer Node than the gateway, and the
// clouds' packages and clients.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const folders = ['openai-7', 'clouds'].map((name) => join(root, 'test', name));

const run = (program, argv, options = {}) =>
  spawnSync(program, argv, { cwd: root, stdio: 'inherit', ...options }).status ?? 1;
const read = (file) => JSON.parse(readFileSync(file, 'utf8'));

/** Whether every package that the folder asks for is there, in the version it asks for. */
function isInstalled(folder) {
  const { dependencies } = read(join(folder, 'package.json'));
  return Object.entries(dependencies).every(([name, version]) => {
    const file = join(folder, 'node_modules', name, 'package.json');
    return existsSync(file) && read(file).version === version;
  });
}

const missing = folders.filter(
  (cwd) =>
    !isInstalled(cwd) && run('npm', ['ci', '--loglevel=error', '--no-audit', '--no-fund'], { cwd }) !== 0,
);
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const status = run(process.execPath, [vitest, 'run', ...process.argv.slice(2)], {
  env: { ...process.env, EXHAUSTIVE: '1', NODE_PATH: join(root, 'test', 'clouds', 'node_modules') },
});
for (const folder of missing)
  console.error(`Not run: what needs the packages of ${folder}, which could not be installed.`);
process.exitCode = status || Number(missing.length > 0);
