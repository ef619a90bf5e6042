import { createServer } from 'node:net';
import { SwapRemoveList } from '../swap-remove-list.ts';
import { type Address, bind, urlOf } from './bind.ts';
import { Connection, type ConnectionLimits, type Server } from './connection.ts';
import { DateLine } from './date-line.ts';
import { Turn } from './tick.ts';

export interface ListenLimits extends ConnectionLimits {
  readonly connections: number;
  /** How long open exchanges may go on after `drain`, in milliseconds. */
  readonly drainMs: number;
}

export interface ListenOptions extends Address {
  readonly limits: ListenLimits;
  readonly onRequest: Server['onRequest'];
  /** Without it an Upgrade header is ignored and the request answered as if it had none. */
  readonly onUpgrade?: Server['onUpgrade'];
  /** One for all that the process has to do at once; its own, where nothing is said. */
  readonly turn?: Turn;
}

export interface Listener {
  readonly url: string;
  readonly port: number;
  readonly isDraining: boolean;
  /** Fires when the time for draining is over: what is still open ends now, loudly. */
  readonly stopSignal: AbortSignal;
  /**
   * Stops accepting, closes idle connections, gives the rest `drainMs`, then cuts. Resolves when all are closed
   * and every answer knows.
   */
  drain(): Promise<void>;
}

export const defaultListenLimits: ListenLimits = {
  headMs: 10_000,
  headBytes: 16 * 1024,
  connections: 10_000,
  pipelined: 16,
  drainMs: 30_000,
};

/** How often connections are looked at for what is overdue. */
const checkMs = 1_000;
// Between the signal that cuts exchanges and the end of their sockets: time for the last error event to leave.
const cutGraceMs = 500;

/** Starts an HTTP server with the product's limits. Throws port.busy or config.invalid when it can't listen. */
export async function listen({
  limits,
  onRequest,
  onUpgrade,
  turn = new Turn(),
  ...address
}: ListenOptions): Promise<Listener> {
  const stop = new AbortController();
  const open = new SwapRemoveList<Connection>();
  const date = new DateLine();
  let drained: Promise<void> | undefined;
  let emptied: () => void = () => undefined;
  const forConnections: Server = {
    limits,
    onRequest,
    onUpgrade,
    turn,
    get isDraining() {
      return drained !== undefined;
    },
    dateLine: () => date.line(Date.now()),
    closed: (connection) => {
      open.remove(connection);
      if (open.items.length === 0) emptied();
    },
  };
  const server = createServer({ noDelay: true }, (socket) => {
    // Not `maxConnections`: processes that share a port would hand a connection round in circles when all are full.
    if (open.items.length >= limits.connections) socket.destroy();
    else open.add(new Connection(socket, forConnections));
  });
  const port = await bind(server, address);
  const overdue = setInterval(() => {
    const now = performance.now();
    for (const connection of [...open.items]) connection.checkTime(now);
  }, checkMs).unref();

  const drain = async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const connection of [...open.items]) connection.drain();
    const cut = setTimeout(() => {
      stop.abort();
      setTimeout(() => {
        for (const connection of [...open.items]) connection.destroy();
      }, cutGraceMs).unref();
    }, limits.drainMs);
    await closed;
    // The server calls itself closed a turn before the last connections tell their answers.
    if (open.items.length > 0) {
      await new Promise<void>((resolve) => {
        emptied = resolve;
      });
    }
    clearTimeout(cut);
    clearInterval(overdue);
  };

  return {
    url: urlOf({ host: address.host, port }),
    port,
    stopSignal: stop.signal,
    get isDraining() {
      return drained !== undefined;
    },
    drain: () => {
      drained ??= drain();
      return drained;
    },
  };
}
