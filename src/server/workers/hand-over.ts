import type { ChildProcess } from 'node:child_process';
import { createServer, type Server, type Socket } from 'node:net';
import { type Address, bind } from '../../http/bind.ts';
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
    // What was not sent is taken back in a turn of its own, in which the end of the process may show.
    this.#process.send(command, socket, { keepOpen: true }, (error) => {
      if (error !== null) setImmediate(() => this.#end(id, false));
    });
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

/** A process that serves connections. */
export interface ConnectionTarget {
  /** Whether it serves now. */
  readonly isServing: boolean;
  /** Sends it a connection; `done` says whether the process has confirmed it, or is gone without having read from it. */
  accept(socket: Socket, done: (isTaken: boolean) => void): void;
}

/** Milliseconds that a connection may wait for a process that serves: all are late on a machine that is held up. */
const waitMs = 10_000;

/**
 * Accepts connections and hands them to the targets in turn. A connection stays open here until its target has
 * confirmed it, so one that was on its way to a process that died goes to another. Node's cluster module forgets those
 * (docs/decisions/workers.md). Nothing is read from a connection here.
 */
export class HandOver {
  readonly #targets: readonly ConnectionTarget[];
  readonly #server: Server;
  /** Connections that no target has yet, each with the timer that resets it. */
  readonly #waiting = new Map<Socket, NodeJS.Timeout>();
  #next = 0;

  constructor(targets: readonly ConnectionTarget[]) {
    this.#targets = targets;
    this.#server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, (socket) => {
      socket.on('error', () => socket.destroy());
      this.#assign(socket);
    });
  }

  /** Resolves with the port. Throws port.busy, and config.invalid if the address is unusable. */
  listen(address: Address): Promise<number> {
    return bind(this.#server, address);
  }

  /** A target serves now. */
  assignWaiting(): void {
    for (const [socket, timer] of [...this.#waiting]) {
      clearTimeout(timer);
      this.#waiting.delete(socket);
      this.#assign(socket);
    }
  }

  /** Accepts no more; what no target has is reset. */
  close(): void {
    this.#server.close();
    for (const [socket, timer] of this.#waiting) {
      clearTimeout(timer);
      socket.resetAndDestroy();
    }
    this.#waiting.clear();
  }

  #assign(socket: Socket): void {
    if (socket.destroyed) return;
    const target = this.#nextTarget();
    if (target === undefined) return this.#wait(socket);
    target.accept(socket, (isTaken) => {
      if (isTaken)
        socket.destroy(); // this process's handle only: the connection goes on in the other
      else if (this.#server.listening) this.#assign(socket);
      else socket.resetAndDestroy();
    });
  }

  #nextTarget(): ConnectionTarget | undefined {
    for (let tries = 0; tries < this.#targets.length; tries++) {
      const target = this.#targets[this.#next % this.#targets.length];
      this.#next += 1;
      if (target?.isServing === true) return target;
    }
    return undefined;
  }

  #wait(socket: Socket): void {
    const reset = () => {
      this.#waiting.delete(socket);
      socket.resetAndDestroy();
    };
    this.#waiting.set(socket, setTimeout(reset, waitMs));
  }
}
