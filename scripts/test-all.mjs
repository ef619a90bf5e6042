#!/usr/bin/env node
// All tests: both tiers, the generators at full scale, and what uses OpenAI's SDK once more with its newest line, which
// wants a newer Node than the gateway and is therefore installed in a folder of its own.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const folder = join(root, 'test', 'openai-7');

const run = (program, argv, options = {}) =>
  spawnSync(program, argv, { cwd: root, stdio: 'inherit', ...options }).status ?? 1;
const read = (...path) => JSON.parse(readFileSync(join(folder, ...path), 'utf8'));

function hasSdk() {
  const file = join('node_modules', 'openai', 'package.json');
  return existsSync(join(folder, file)) && read(file).version === read('package.json').dependencies.openai;
}

const isInstalled =
  hasSdk() || run('npm', ['ci', '--loglevel=error', '--no-audit', '--no-fund'], { cwd: folder }) === 0;
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const status = run(process.execPath, [vitest, 'run', ...process.argv.slice(2)], {
  env: { ...process.env, EXHAUSTIVE: '1' },
});
if (!isInstalled) console.error('Not run: the tests with openai 7, which could not be installed.');
process.exitCode = status || Number(!isInstalled);
