import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

// Node 20 can't run TypeScript, so when run from source (in tests) this uses the built entry.
const entry = import.meta.url.endsWith('.ts') ? '../../../dist/serve-worker.js' : './serve-worker.js';

/** Starts a worker's process; its only argument is its number among all that were started. */
export function spawnWorker(number: number): ChildProcess {
  return fork(fileURLToPath(new URL(entry, import.meta.url)), [String(number)], {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
}
