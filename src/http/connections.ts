import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

interface Open {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** The sockets of a server and the exchanges that are open on each. */
export class Connections {
  readonly #open = new Map<Socket, Set<Open>>();
  readonly #upgraded = new WeakSet<Socket>();
  #isDraining = false;

  add(socket: Socket): void {
    this.#open.set(socket, new Set());
    socket.once('close', () => this.#open.delete(socket));
  }

  /** The socket speaks another protocol from now on, and is not idle for want of exchanges. */
  noteUpgrade(socket: Socket): void {
    this.#upgraded.add(socket);
  }

  /** Notes an exchange until its answer is over; gives the number of those that are open on its socket. */
  begin(request: IncomingMessage, response: ServerResponse): number {
    const { socket } = request;
    const exchanges = this.#open.get(socket);
    if (exchanges === undefined) return 0; // the socket is closed already
    const exchange = { request, response };
    exchanges.add(exchange);
    if (this.#isDraining) response.setHeader('connection', 'close');
    response.once('close', () => {
      exchanges.delete(exchange);
      if (this.#isDraining) this.#closeIfIdle(socket);
    });
    return exchanges.size;
  }

  /**
   * Whether an answer can still be written past the exchanges: there is none, or a single one whose request
   * is not over and whose answer has not begun. Else what is written would be read as part of an answer.
   */
  isUnanswered(socket: Socket): boolean {
    const exchanges = [...(this.#open.get(socket) ?? [])];
    return (
      exchanges.length <= 1 && exchanges.every((each) => !each.request.complete && !each.response.headersSent)
    );
  }

  /** Whether an exchange is open on it. */
  isBusy(socket: Socket): boolean {
    return (this.#open.get(socket)?.size ?? 0) > 0;
  }

  /** Closes idle connections, and each of the others as soon as it is idle. */
  drain(): void {
    this.#isDraining = true;
    for (const [socket, exchanges] of this.#open) {
      this.#closeIfIdle(socket);
      for (const { response } of exchanges) {
        if (!response.headersSent) response.setHeader('connection', 'close');
      }
    }
  }

  cut(): void {
    for (const socket of this.#open.keys()) socket.destroy();
  }

  #closeIfIdle(socket: Socket): void {
    if (this.#upgraded.has(socket) || this.#open.get(socket)?.size !== 0) return;
    socket.destroySoon();
  }
}
