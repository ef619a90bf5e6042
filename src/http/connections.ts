import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The sockets of a server and the answers that are open on each. */
export class Connections {
  readonly #open = new Map<Socket, ServerResponse[]>();
  readonly #upgraded = new WeakSet<Socket>();
  #isDraining = false;

  get size(): number {
    return this.#open.size;
  }

  add(socket: Socket): void {
    this.#open.set(socket, []);
    socket.once('close', () => {
      for (const response of this.openOn(socket)) if (response.socket === null) tellClosed(response);
      this.#open.delete(socket);
    });
  }

  /** The socket speaks another protocol from now on, and is not idle for want of answers. */
  noteUpgrade(socket: Socket): void {
    this.#upgraded.add(socket);
  }

  /** Notes an answer until it is over; gives the number of those that are open on its socket. */
  begin(response: ServerResponse): number {
    const { socket } = response.req;
    const open = this.#open.get(socket);
    if (open === undefined) return 0; // the socket is closed already
    open.push(response);
    if (this.#isDraining) response.setHeader('connection', 'close');
    response.once('close', () => {
      open.splice(open.indexOf(response), 1);
      if (this.#isDraining && this.#isUnasked(socket)) socket.destroySoon();
    });
    return open.length;
  }

  openOn(socket: Socket): readonly ServerResponse[] {
    return [...(this.#open.get(socket) ?? [])];
  }

  /**
   * Closes connections that never said anything, and the busy ones as soon as their answers are over. Node
   * takes the first for busy ones, and lets the second wait for another request.
   */
  drain(): void {
    this.#isDraining = true;
    for (const [socket, open] of this.#open) {
      if (socket.bytesRead === 0) socket.destroy();
      for (const response of open) if (!response.headersSent) response.setHeader('connection', 'close');
    }
  }

  /** Closes those in the middle of a request's head. */
  closeUnasked(): void {
    for (const socket of this.#open.keys()) if (this.#isUnasked(socket)) socket.destroy();
  }

  cut(): void {
    for (const socket of this.#open.keys()) socket.destroy();
  }

  #isUnasked(socket: Socket): boolean {
    return !this.#upgraded.has(socket) && this.#open.get(socket)?.length === 0;
  }
}

/** Node tells only the answer whose turn it is that the client has left; those behind it would never know. */
function tellClosed(response: ServerResponse): void {
  response.destroy();
  response.emit('close');
}
