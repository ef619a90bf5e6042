import { type ChildProcess, fork } from 'node:child_process';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

// Node 20 can't run TypeScript, so when run from source (in tests) this uses the built entry.
const entry = import.meta.url.endsWith('.ts') ? '../../../dist/serve-worker.js' : './serve-worker.js';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * How V8 treats the heap of a process that serves. A young generation of its usual size: V8 makes it smaller on a small
 * machine, where collecting it then takes most of the CPU time (docs/decisions/young-generation.md); not where the environment
 * sets it, which a flag would override. And no collections in pauses, which take the optimized code with them
 * (docs/decisions/first-request.md).
 */
export function heapFlags({ NODE_OPTIONS = '' }: Environment): readonly string[] {
  // V8 takes either spelling.
  return [...(/semi[-_]space/.test(NODE_OPTIONS) ? [] : ['--max-semi-space-size=16']), '--no-memory-reducer'];
}

/** Starts a worker's process; its only argument is its number among all that were started. */
export function spawnWorker(number: number, env: Environment): ChildProcess {
  return fork(fileURLToPath(new URL(entry, import.meta.url)), [String(number)], {
    execArgv: [...heapFlags(env), ...process.execArgv],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
}

/** Passes a stream's text on in whole lines, so that lines of several streams are not interleaved. */
export function relayLines(from: Readable, write: (text: string) => void): void {
  let rest = '';
  from.setEncoding('utf8');
  from.on('data', (chunk: string) => {
    const end = chunk.lastIndexOf('\n') + 1;
    if (end > 0) write(rest + chunk.slice(0, end));
    rest = end > 0 ? chunk.slice(end) : rest + chunk;
  });
  from.on('end', () => {
    if (rest !== '') write(`${rest}\n`);
  });
}
