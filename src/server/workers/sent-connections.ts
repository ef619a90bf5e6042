import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { confirmMs, uptimeMs, type WorkerCommand } from './messages.ts';

/** Milliseconds in which a process may take a connection. */
const takenMs = 1_000;
/** Milliseconds after which one that was not taken goes to another process: some longer, so that no two have it. */
const returnedMs = takenMs + confirmMs;
/** Milliseconds after that, in which a process that takes nothing must do so, or is killed. */
const hangsMs = 30_000;

interface Waiting {
  readonly done: (isTaken: boolean) => void;
  readonly timer: NodeJS.Timeout;
}

/** Connections sent to a process that it has not confirmed yet, which also show whether it still does anything. */
export class SentConnections {
  readonly #process: Pick<ChildProcess, 'send' | 'kill'>;
  readonly #waiting = new Map<number, Waiting>();
  readonly #onRecovered: () => void;
  #sequence = 0;
  /** Runs while the process hangs. */
  #killing: NodeJS.Timeout | undefined;

  /** `onRecovered` is called when they are no longer late. */
  constructor(process: Pick<ChildProcess, 'send' | 'kill'>, onRecovered: () => void) {
    this.#process = process;
    this.#onRecovered = onRecovered;
  }

  /** Whether the last ones were not confirmed in time, and none since. */
  get areLate(): boolean {
    return this.#killing !== undefined;
  }

  send(socket: Socket, done: (isTaken: boolean) => void): void {
    this.#sequence += 1;
    const id = this.#sequence;
    // If it was this process that could do nothing for a while, the confirmation is read before that.
    const timer = setTimeout(() => setImmediate(() => this.#return(id)), returnedMs);
    this.#waiting.set(id, { done, timer });
    const command: WorkerCommand = { kind: 'connection', id, untilMs: uptimeMs() + takenMs };
    this.#process.send(command, socket, { keepOpen: true }, () => undefined); // a death arrives as an event
  }

  /** The process has got it, and serves it unless it was too late. */
  confirm(id: number, isTaken: boolean): void {
    const wereLate = this.areLate;
    clearTimeout(this.#killing);
    this.#killing = undefined;
    this.#end(id, isTaken);
    if (wereLate) this.#onRecovered();
  }

  /** The process is gone, and its last message has been received: what it has not confirmed, it has not read from. */
  returnAll(): void {
    clearTimeout(this.#killing);
    for (const id of [...this.#waiting.keys()]) this.#end(id, false);
  }

  #return(id: number): void {
    if (!this.#waiting.has(id)) return;
    this.#killing ??= setTimeout(() => this.#process.kill('SIGKILL'), hangsMs);
    this.#end(id, false);
  }

  #end(id: number, isTaken: boolean): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return; // a late confirmation
    this.#waiting.delete(id);
    clearTimeout(waiting.timer);
    waiting.done(isTaken);
  }
}
