#!/usr/bin/env node
// usage: npm run dev [-- OPTIONS OF SERVE]
// Runs `gateway serve` and, whenever something below src/ changes, builds and starts it anew. A source that can't be
// built leaves the one that is running.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const settleMs = 150; // editors write several files at a time

let gateway;
let isEnding = false;
let settling;
let building = Promise.resolve();

// Ctrl-C reaches the gateway too; a second signal would end it at once.
process.on('SIGINT', () => {
  isEnding = true;
});
process.on('SIGTERM', () => {
  isEnding = true;
  if (gateway?.exitCode === null) gateway.kill('SIGTERM');
});

if (!(await build()) || isEnding) process.exit(1);
start();
watch(join(root, 'src'), { recursive: true }, () => {
  clearTimeout(settling);
  settling = setTimeout(() => {
    building = building.then(restart);
  }, settleMs);
});

async function restart() {
  if (isEnding || !(await build())) return;
  const stopped = gateway;
  gateway = undefined;
  if (stopped.exitCode === null) {
    const exit = once(stopped, 'exit');
    stopped.kill('SIGTERM');
    await exit;
  }
  if (isEnding) process.exit();
  start();
}

async function build() {
  const [status] = await once(run('scripts/build.mjs'), 'exit');
  return status === 0;
}

function start() {
  const child = run('bin/gateway.js', 'serve', ...process.argv.slice(2));
  gateway = child;
  // One that ends by itself, as on a port in use, ends this too.
  child.on('exit', (status) => {
    if (isEnding || gateway === child) process.exit(status ?? 1);
  });
}

function run(...argv) {
  return spawn(process.execPath, argv, { cwd: root, stdio: 'inherit' });
}
