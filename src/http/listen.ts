import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { GatewayError } from '../errors.ts';
import { SwapRemoveList } from '../lib/swap-remove-list.ts';
import { TickQueue } from '../lib/tick-queue.ts';
import { type Address, bind, urlOf } from './bind.ts';
import { Connection, type ConnectionLimits, type ConnectionServer } from './connection.ts';
import { malformed } from './strict-head.ts';

export interface ListenLimits extends ConnectionLimits {
  readonly connections: number;
  /** How long a connection without a request stays open, in milliseconds. */
  readonly idleMs: number;
  /** How long open exchanges may go on after `drain`, in milliseconds. */
  readonly drainMs: number;
}

/** Connections that another process accepts and hands over. */
export interface AcceptedSockets {
  /** Calls `take` for each connection from now on. */
  subscribe(take: (socket: Socket) => void): void;
}

export interface ListenOptions extends Address {
  /** In place of listening at the address. */
  readonly accepted?: AcceptedSockets | undefined;
  readonly limits: ListenLimits;
  readonly onRequest: ConnectionServer['onRequest'];
  /** Without it an Upgrade header is ignored and the request answered as if it had none. */
  readonly onUpgrade?: ConnectionServer['onUpgrade'];
  /** Shared with everything else that takes part in exchanges. */
  readonly ticks?: TickQueue;
}

export type Listener = Awaited<ReturnType<typeof listen>>;

export const defaultListenLimits: ListenLimits = {
  headMs: 10_000,
  headBytes: 16 * 1024,
  connections: 10_000,
  pipelined: 16,
  writeMs: 30_000,
  idleMs: 620_000,
  drainMs: 30_000,
};

/** How often connections are checked for timeouts, in milliseconds. */
const checkMs = 1_000;
// Balancers ignore what is announced and reuse connections for up to ten minutes. Clients follow it, and there may be
// a firewall on their way that forgets idle connections earlier.
const maxAnnouncedS = 60;
// A client that follows the announced keep-alive may have sent a request just before it expires.
const keepAliveMarginS = 5;
// Between the signal that cuts exchanges and the end of their sockets: time for the last error event to leave.
const cutGraceMs = 500;

/** Starts an HTTP server with the product's limits. Throws port.busy or config.invalid when it can't listen. */
export async function listen({
  limits,
  onRequest,
  onUpgrade,
  ticks = new TickQueue(),
  accepted,
  ...address
}: ListenOptions) {
  const stop = new AbortController();
  const open = new SwapRemoveList<Connection>();
  let drained: Promise<void> | undefined;
  let emptied: () => void = () => undefined;
  const server = createLimitedServer(limits);
  follow(server, open, {
    limits,
    ticks,
    onRequest,
    onUpgrade,
    keptAlive: ['connection', 'keep-alive', 'keep-alive', `timeout=${announcedS(limits.idleMs)}`],
    get isDraining() {
      return drained !== undefined;
    },
    closed: (connection) => {
      open.remove(connection);
      if (open.items.length === 0) emptied();
    },
  });
  accepted?.subscribe((socket) => server.emit('connection', socket));
  const port = accepted === undefined ? await bind(server, address) : address.port;
  const overdue = setInterval(() => {
    const nowMs = performance.now();
    for (const connection of [...open.items]) connection.checkTime(nowMs);
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
    // The server emits `close` before the last connections have notified their answers.
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
    /** Fires when the drain time is over: what is still open ends now, with an error event. */
    stopSignal: stop.signal,
    get isDraining(): boolean {
      return drained !== undefined;
    },
    /**
     * Stops accepting, closes idle connections, gives the rest `drainMs`, then cuts. Resolves when all are closed and every
     * answer is.
     */
    drain: (): Promise<void> => {
      drained ??= drain();
      return drained;
    },
  };
}

/** Node's server with the product's limits in place of its own. */
function createLimitedServer({ headBytes, idleMs }: ListenLimits): Server {
  const server = createServer({
    noDelay: true,
    maxHeaderSize: headBytes,
    headersTimeout: 0, // connections check it, also those that another process has accepted
    requestTimeout: 0, // bodies have their own timeouts
    keepAliveTimeout: idleMs,
    requireHostHeader: false, // Node's own answer would have no body
  });
  server.maxHeadersCount = 0; // Node would silently drop the rest, and with it a second Host; their size is limited
  return server;
}

function announcedS(idleMs: number): number {
  return Math.min(maxAnnouncedS, Math.max(1, Math.floor(idleMs / 1_000) - keepAliveMarginS));
}

/** Passes the events of Node's sockets to their connections. */
function follow(
  server: Server,
  open: SwapRemoveList<Connection>,
  connections: ConnectionServer & { readonly limits: ListenLimits },
): void {
  const bySocket = new WeakMap<object, Connection>();
  server.on('connection', (socket: Socket) => {
    // Not `maxConnections`: processes that share a port would hand a connection round in circles when all are full.
    if (open.items.length >= connections.limits.connections) return void socket.destroy();
    const connection = new Connection(socket, connections);
    open.add(connection);
    bySocket.set(socket, connection);
  });
  const begin = (message: IncomingMessage, response: ServerResponse) =>
    bySocket.get(message.socket)?.begin(message, response);
  server.on('request', begin);
  server.on('checkContinue', begin);
  server.on('checkExpectation', begin);
  server.on('connect', (_message, socket) => bySocket.get(socket)?.connect());
  if (connections.onUpgrade !== undefined) {
    server.on('upgrade', (message, socket, head) => bySocket.get(socket)?.upgrade(message, head));
  }
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const connection = bySocket.get(socket);
    if (error.code === 'HPE_INVALID_EOF_STATE' || error.code === 'ECONNRESET') connection?.left();
    else connection?.refuse(refusedByParser(error));
  });
}

/** Maps an error of Node's parser to a refusal. */
function refusedByParser({ code, message }: NodeJS.ErrnoException): GatewayError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new GatewayError('request.headers_too_large', 'the request head is too large');
  }
  return malformed(message.replace(/^Parse Error: /, ''));
}
