import type { Socket } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import type { Attempted, Connect } from './connect.ts';

/** A request from its connection's point of view. */
interface DispatchedRequest {
  /** The connection that the request waits for, or is sent on immediately. */
  assign(connection: HostConnection): void;
  /** The connection has ended: the parser still delivers what it has, paused or not. */
  connectionEnded(): void;
}

/** What is dispatched to a host: undici's options, and whose request it is. */
export interface HostDispatch extends Dispatcher.DispatchOptions {
  readonly upstream: DispatchedRequest;
}

/**
 * Maximum connections that are opened for one request before it is sent. The first may end while it is assigned, but undici
 * would go on as long as each one ends: a proxy that sends bytes ahead of the request would be asked a thousand times a
 * second.
 */
const maxOpened = 3;

/** The connection of a client: one at a time, with one request at a time. */
export class HostConnection {
  /** Undefined until it is open for the first time. */
  socket: Socket | undefined;
  #upstream: DispatchedRequest | undefined;
  /** How many have been opened for this request. */
  #opened = 0;
  #attempted: Attempted | undefined;
  readonly #connect: Connect;

  constructor(connect: Connect) {
    this.#connect = connect;
  }

  /** The next request is about to be dispatched. */
  begin(upstream: DispatchedRequest): void {
    this.#upstream = upstream;
    this.#opened = 0;
    upstream.assign(this);
  }

  /** The request is over: an idle connection keeps nothing of it, such as its body, alive. */
  ended(upstream: DispatchedRequest): void {
    if (this.#upstream === upstream) this.#upstream = undefined;
  }

  /** For undici, when it needs a connection. */
  open(connected: (...settled: [null, Socket] | [Error, null]) => void): void {
    this.#opened += 1;
    if (this.#opened > maxOpened) {
      return connected(new Error('its connections end before a request can be sent'), null);
    }
    this.#attempted = this.#connect((error, socket) => {
      this.socket = socket ?? undefined;
      if (socket === null) return connected(error ?? new Error('there is no connection'), null);
      this.#guard(socket);
      connected(null, socket);
    });
  }

  /**
   * Ends the connection of an abandoned request, or the attempt to open it: before undici has written the request there
   * is no other way.
   */
  giveUp(request: Dispatcher.DispatchController | undefined, cause: Error): void {
    if (request === undefined) return this.#attempted?.destroy(cause);
    // Node would still emit an end that it has already read, and undici would complete the aborted request.
    this.socket?.removeAllListeners('end');
    request.abort(cause);
  }

  /**
   * undici 7 completes an answer that ends with its connection from within the socket's events. Where the answer
   * is paused or aborted, it fails an assertion there, which ends the process (nodejs/undici#5360, fixed in 8,
   * which needs Node 22), and it takes a reset for an end. These listeners are called before undici's.
   */
  #guard(socket: Socket): void {
    socket.on('end', () => this.#upstream?.connectionEnded());
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET') error.code = socketError;
    });
    socket.on('close', () => {
      if (!socket.errored) socket.emit('error', Object.assign(new Error('closed'), { code: socketError }));
    });
  }
}

/** undici's code for a connection that is gone, after which it opens another one. */
const socketError = 'UND_ERR_SOCKET';

/** undici's client for one connection, which gives each request its connection. */
export class HostClient extends Client {
  readonly #connection: HostConnection;

  constructor(origin: URL, options: Client.Options, connect: Connect) {
    const connection = new HostConnection(connect);
    super(origin, { ...options, connect: (_options, connected) => connection.open(connected) });
    this.#connection = connection;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    // Only requests of Pool come here.
    const { upstream } = options as HostDispatch;
    this.#connection.begin(upstream);
    return super.dispatch(options, handler);
  }
}
