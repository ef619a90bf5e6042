import { createServer, type Server, type Socket } from 'node:net';
import { type Address, bind } from '../../http/bind.ts';

/** A process that serves connections. */
export interface ConnectionTarget {
  /** Whether it serves now. */
  readonly isServing: boolean;
  /** Sends it a connection; `done` says whether the process has confirmed it, or is gone without having read from it. */
  accept(socket: Socket, done: (isTaken: boolean) => void): void;
}

/** Milliseconds that a connection may wait for a process that serves. */
const waitMs = 1_000;

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
