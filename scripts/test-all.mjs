#!/usr/bin/env node
// All tests: both tiers, the generators at full scale, and what needs packages that the checkout doesn't have, each in a
// folder of its own: OpenAI's SDK once more in its newest line, which wants a newer Node than the gateway, the clouds'
// packages and clients, and the AI SDK.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { installOwnPackages } from './own-packages.mjs';

const root = join(import.meta.dirname, '..');
const folders = ['openai-7', 'clouds', 'ai-sdk'].map((name) => join(root, 'test', name));

const missing = folders.filter((folder) => !installOwnPackages(folder));
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const { status } = spawnSync(process.execPath, [vitest, 'run', ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, EXHAUSTIVE: '1', NODE_PATH: join(root, 'test', 'clouds', 'node_modules') },
});
for (const folder of missing)
  console.error(`Not run: what needs the packages of ${folder}, which could not be installed.`);
process.exitCode = (status ?? 1) || Number(missing.length > 0);
