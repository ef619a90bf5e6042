import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { GatewayError } from '../errors.ts';
import { newRequestId, rawErrorAnswer, sendError } from './respond.ts';

export interface ListenLimits {
  /** Longest time for the request head, in milliseconds. */
  readonly headMs: number;
  readonly headBytes: number;
  readonly connections: number;
  /** Requests of one connection that may wait for their answers at once (HTTP pipelining). */
  readonly pipelined: number;
  /** How long open exchanges may go on after `drain`, in milliseconds. */
  readonly drainMs: number;
}

export interface ListenOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly limits: ListenLimits;
  readonly onRequest: (request: IncomingMessage, response: ServerResponse) => void;
  /** Without it an Upgrade header is ignored and the request answered as if it had none. */
  readonly onUpgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

export interface Listener {
  readonly url: string;
  readonly port: number;
  readonly isDraining: boolean;
  /** Fires when the time for draining is over: what is still open ends now, loudly. */
  readonly stopSignal: AbortSignal;
  /** Stops accepting, closes idle connections, gives the rest `drainMs`, then cuts. Resolves when all are closed. */
  drain(): Promise<void>;
}

export const defaultListenLimits: ListenLimits = {
  headMs: 10_000,
  headBytes: 16 * 1024,
  connections: 10_000,
  pipelined: 16,
  drainMs: 30_000,
};

/** The requests of a connection that have no whole answer yet, and the answer of the newest. */
type Pending = WeakMap<Socket, { open: number; latest: ServerResponse }>;

// Clients reuse a connection for as long as they hear from us that they may.
const keepAliveMs = 60_000;
// Between the signal that cuts exchanges and the end of their sockets: time for the last error event to leave.
const cutGraceMs = 500;

/** Starts an HTTP server with the product's limits. Throws port.busy or gateway.internal when it can't listen. */
export async function listen(options: ListenOptions): Promise<Listener> {
  const { limits } = options;
  const stop = new AbortController();
  let isDraining = false;
  const server = createServer({
    noDelay: true,
    maxHeaderSize: limits.headBytes,
    headersTimeout: limits.headMs,
    // Bodies have their own timers (body.ts), with an answer that says so.
    requestTimeout: 0,
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: 1_000,
    // Node answers a missing Host without a body; guard.ts does it with one.
    requireHostHeader: false,
  });
  server.maxConnections = limits.connections;
  const pending: Pending = new WeakMap();
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });

  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const waiting = pending.get(socket) ?? { open: 0, latest: response };
    waiting.open += 1;
    waiting.latest = response;
    pending.set(socket, waiting);
    response.once('close', () => {
      waiting.open -= 1;
    });
    if (isDraining) response.setHeader('connection', 'close');
    const refusal = waiting.open > limits.pipelined ? tooManyPipelined(limits) : misframed(request);
    if (refusal === undefined) return options.onRequest(request, response);
    response.setHeader('connection', 'close');
    return sendError(response, refusal, newRequestId());
  };
  server.on('request', onRequest);
  // The 100 is sent by readBody, when the request has passed the checks that need no body.
  server.on('checkContinue', onRequest);
  server.on('checkExpectation', (_request, response) => {
    sendError(
      response,
      new GatewayError('request.expectation', 'Expect may only be 100-continue'),
      newRequestId(),
    );
  });
  server.on('clientError', (error, socket) => answerParserError(error, socket as Socket, pending));
  server.on('connect', (_request, socket) => {
    const error = new GatewayError(
      'endpoint.unknown',
      'this is not a tunnelling proxy: CONNECT is not served',
    );
    socket.end(rawErrorAnswer(error, newRequestId()));
  });
  if (options.onUpgrade !== undefined) server.on('upgrade', options.onUpgrade);

  await bind(server, options);
  const { port } = server.address() as AddressInfo;
  const shownHost = options.host.includes(':') ? `[${options.host}]` : options.host;

  return {
    url: `http://${shownHost}:${port}`,
    port,
    stopSignal: stop.signal,
    get isDraining() {
      return isDraining;
    },
    drain: async () => {
      isDraining = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      // Node takes a connection that never said anything for a busy one, and stops its own clock of heads.
      const unasked = () => [...sockets].filter((socket) => (pending.get(socket)?.open ?? 0) === 0);
      for (const socket of unasked()) if (socket.bytesRead === 0) socket.destroy();
      const late = setTimeout(() => {
        for (const socket of unasked()) socket.destroy();
      }, limits.headMs);
      const cut = setTimeout(() => {
        stop.abort();
        setTimeout(() => server.closeAllConnections(), cutGraceMs).unref();
      }, limits.drainMs);
      await closed;
      clearTimeout(late);
      clearTimeout(cut);
    },
  };
}

function bind(server: Server, { host, port }: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      if (cause.code === 'EADDRINUSE') {
        return reject(new GatewayError('port.busy', `port ${port} on ${host} is taken`, { cause }));
      }
      reject(
        new GatewayError('config.invalid', `can't listen on ${host} port ${port}: ${cause.message}`, {
          cause,
        }),
      );
    });
    server.listen({ host, port, backlog: 4096 }, () => resolve());
  });
}

/** Framing that the parser lets pass but that two readers could take differently (RFC 9112, section 6). */
function misframed(request: IncomingMessage): GatewayError | undefined {
  const transfer = request.headers['transfer-encoding'];
  if (transfer !== undefined && transfer.toLowerCase() !== 'chunked') {
    return new GatewayError('request.framing', 'transfer-encoding may only be chunked');
  }
  let hosts = 0;
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    const name = request.rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  if (hosts > 1) return new GatewayError('request.framing', 'there is more than one Host header');
  return undefined;
}

function tooManyPipelined(limits: ListenLimits): GatewayError {
  const message = `more than ${limits.pipelined} requests wait on this connection; open another one`;
  return new GatewayError('gateway.overloaded', message, { retryAfterS: 1 });
}

function answerParserError(error: NodeJS.ErrnoException, socket: Socket, pending: Pending): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const waiting = pending.get(socket);
  if (waiting === undefined || waiting.open === 0) {
    socket.end(rawErrorAnswer(parserError(error), newRequestId()));
    setTimeout(() => socket.destroy(), 2_000).unref();
    return;
  }
  const { latest, open } = waiting;
  // At the end of its side the client has left: nobody reads an answer.
  const isMalformed = error.code !== 'HPE_INVALID_EOF_STATE';
  if (isMalformed && open === 1 && !latest.headersSent && !latest.req.complete) {
    // Its body is what is malformed, so the answer is its own.
    sendError(latest, parserError(error), newRequestId());
    return;
  }
  // In the middle of another answer a 400 would be read as part of it.
  socket.destroy();
}

function parserError(cause: NodeJS.ErrnoException): GatewayError {
  if (cause.code === 'HPE_HEADER_OVERFLOW') {
    return new GatewayError('request.headers_too_large', 'the request head is too large', { cause });
  }
  if (cause.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new GatewayError('request.timeout', 'the request head did not arrive in time', { cause });
  }
  return new GatewayError('request.framing', 'this is not a well-formed HTTP/1.1 request', { cause });
}
