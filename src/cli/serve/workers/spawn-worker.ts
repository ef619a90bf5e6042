import { type ChildProcess, fork } from 'node:child_process';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { WorkerCommand } from './messages.ts';

// Node 20 can't run TypeScript, so when run from source (in tests) this uses the built entry.
const entry = import.meta.url.endsWith('.ts') ? '../../../../dist/serve-worker.js' : './serve-worker.js';

/** Starts a worker's process; its only argument is its number among all that were started. */
export function spawnWorker(number: number): ChildProcess {
  return fork(fileURLToPath(new URL(entry, import.meta.url)), [String(number)], {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
}

/** Connections sent to a process that it has not confirmed yet. */
export class SentConnections {
  readonly #waiting = new Map<number, (isTaken: boolean) => void>();
  #sequence = 0;

  send(process: ChildProcess | undefined, socket: Socket, done: (isTaken: boolean) => void): void {
    this.#sequence += 1;
    this.#waiting.set(this.#sequence, done);
    const command: WorkerCommand = { kind: 'connection', id: this.#sequence };
    process?.send(command, socket, { keepOpen: true }, () => undefined); // a death arrives as an event
  }

  confirm(id: number): void {
    this.#waiting.get(id)?.(true);
    this.#waiting.delete(id);
  }

  /** The process is gone, and its last message has been received: what it has not confirmed, it has not read from. */
  returnAll(): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const done of waiting) done(false);
  }
}
