// Programs of the benchmark: started pinned to a core, watched through /proc, ended by their ids. Linux only.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';

/** The contender has a core of its own; load, provider and this program share the other. Workers take both. */
export const cores = { load: '0', contender: '1', both: '0,1' };

const running = new Set();
process.on('exit', () => {
  for (const child of running) killTree(child.pid);
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));

// Node 20 parses that file at every start, which is no cost of any contender's.
const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;

export function launch({ command, environment = {}, core, stderr = 'pipe', stdout = 'ignore', cwd }) {
  const pinned = availableParallelism() > 1 ? ['taskset', '-c', core, ...command] : command;
  const child = spawn(pinned[0], pinned.slice(1), {
    cwd,
    env: { ...inherited, ...environment },
    stdio: ['ignore', stdout, stderr],
  });
  running.add(child);
  child.words = '';
  child.stderr?.on('data', (chunk) => {
    if (child.words.length < 4_000) child.words += chunk;
  });
  child.once('error', (error) => {
    child.words += error.message;
  });
  child.once('exit', () => running.delete(child));
  return child;
}

export function hasEnded(child) {
  return child.exitCode !== null || child.signalCode !== null;
}

export function stop(child) {
  if (hasEnded(child)) return Promise.resolve();
  return new Promise((resolve) => {
    child.once('exit', resolve);
    killTree(child.pid);
  });
}

/** Runs a load generator to its end; the last line of its output that is JSON is its result. */
export async function runLoad(command, limitSeconds, core = cores.load, environment = {}) {
  const child = launch({ command, core, stdout: 'pipe', environment });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  const late = setTimeout(() => killTree(child.pid), limitSeconds * 1_000);
  await new Promise((resolve) => child.once('close', resolve));
  clearTimeout(late);
  const line = output.split('\n').findLast((each) => each.startsWith('{'));
  if (line === undefined) throw new Error(`${command[0]} gave no result: ${output}${child.words}`);
  return JSON.parse(line);
}

/** A port that was free a moment ago. */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** CPU time of a process and its children so far, in microseconds. */
export function cpuOf(pid) {
  let nanoseconds = 0;
  for (const each of tree(pid)) {
    for (const task of tasks(each))
      nanoseconds += Number(readText(`/proc/${each}/task/${task}/schedstat`).split(' ')[0]);
  }
  return nanoseconds / 1_000;
}

/** Resident memory of a process and its children, in MB. */
export function residentOf(pid) {
  let kilobytes = 0;
  for (const each of tree(pid))
    kilobytes += Number(/VmRSS:\s+(\d+)/.exec(readText(`/proc/${each}/status`))?.[1] ?? 0);
  return kilobytes / 1_024;
}

function killTree(pid) {
  if (pid === undefined) return;
  for (const each of tree(pid).reverse()) {
    try {
      process.kill(each, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }
}

function tree(root) {
  const children = new Map();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const parent = statFields(name)[1];
    if (parent !== undefined)
      children.set(Number(parent), [...(children.get(Number(parent)) ?? []), Number(name)]);
  }
  const found = [root];
  for (const pid of found) found.push(...(children.get(pid) ?? []));
  return found;
}

function tasks(pid) {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return []; // It ended meanwhile.
  }
}

/** The fields of /proc/PID/stat from the state on: the name before them may hold anything. */
export function statFields(pid) {
  const text = readText(`/proc/${pid}/stat`);
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

export function readText(file) {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return ''; // It ended meanwhile.
  }
}
