import { type ChildProcess, fork } from 'node:child_process';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

// Node 20 can't run TypeScript, so when run from source (in tests) this uses the built entry.
const entry = import.meta.url.endsWith('.ts') ? '../../../dist/serve-worker.js' : './serve-worker.js';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * How V8 treats the heap of a process that serves: the size of its young generation, which V8 makes smaller on a small machine,
 * where collecting it then takes most of the CPU time (docs/decisions/young-generation.md), and no collection of its own
 * when the program pauses, which takes the optimized code with it (docs/decisions/first-request.md). Not the size where the
 * environment sets it, which a flag would override.
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
