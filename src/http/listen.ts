import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { GatewayError } from '../errors.ts';
import { type Address, bind, urlOf } from './bind.ts';
import { Connections } from './connections.ts';
import { lingerMs, newRequestId, rawErrorAnswer, sendError } from './respond.ts';

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

export interface ListenOptions extends Address {
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

// Clients reuse a connection for as long as they hear from us that they may.
const keepAliveMs = 60_000;
// Between the signal that cuts exchanges and the end of their sockets: time for the last error event to leave.
const cutGraceMs = 500;

/** Starts an HTTP server with the product's limits. Throws port.busy or gateway.internal when it can't listen. */
export async function listen(options: ListenOptions): Promise<Listener> {
  const { limits } = options;
  const stop = new AbortController();
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
  const connections = new Connections();
  server.on('connection', (socket) => {
    // Not `maxConnections`: processes that share a port would hand a connection round in circles when all are full.
    if (connections.size >= limits.connections) socket.destroy();
    else connections.add(socket);
  });

  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    // Behind an answer that closed the connection nothing is taken, only drained.
    if (request.socket.writableEnded) return request.resume();
    const open = connections.begin(response);
    // The parser gives up what follows in the same packet, so the client must not wait for an answer to it.
    if (request.headers.upgrade !== undefined) response.setHeader('connection', 'close');
    const refusal = open > limits.pipelined ? tooManyPipelined(limits) : misframed(request);
    if (refusal === undefined) return options.onRequest(request, response);
    response.setHeader('connection', 'close');
    return sendError(response, refusal, newRequestId());
  };
  server.on('request', onRequest);
  // The 100 is sent by readBody, when the request has passed the checks that need no body.
  server.on('checkContinue', onRequest);
  server.on('checkExpectation', onRequest);
  server.on('clientError', (error, socket) => answerParserError(error, socket as Socket, connections));
  server.on('connect', (_request, socket) => refuseConnect(socket as Socket));
  const { onUpgrade } = options;
  if (onUpgrade !== undefined) {
    server.on('upgrade', (request, socket, head) => {
      connections.noteUpgrade(request.socket);
      onUpgrade(request, socket, head);
    });
  }

  const port = await bind(server, options);

  const drain = async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeIdleConnections();
    connections.drain();
    // Node stops its own clock of heads when it closes.
    const late = setTimeout(() => connections.closeUnasked(), limits.headMs);
    const cut = setTimeout(() => {
      stop.abort();
      setTimeout(() => connections.cut(), cutGraceMs).unref();
    }, limits.drainMs);
    await closed;
    clearTimeout(late);
    clearTimeout(cut);
  };
  let drained: Promise<void> | undefined;

  return {
    url: urlOf({ host: options.host, port }),
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

/** Framing that the parser lets pass but that two readers could take differently (RFC 9112, section 6). */
function misframed(request: IncomingMessage): GatewayError | undefined {
  const transfer = request.headers['transfer-encoding'];
  if (transfer !== undefined && transfer.toLowerCase() !== 'chunked') {
    return new GatewayError('request.framing', 'transfer-encoding may only be chunked');
  }
  const { expect } = request.headers;
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
    return new GatewayError('request.expectation', 'Expect may only be 100-continue');
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

function answerParserError(error: NodeJS.ErrnoException, socket: Socket, connections: Connections): void {
  // It has its answer already, and is still sending: what comes is drained until the socket is destroyed.
  if (socket.writableEnded) return;
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const open = connections.openOn(socket);
  const [only] = open;
  if (only === undefined) return endWith(socket, parserError(error));
  // At the end of its side the client has left: nobody reads an answer.
  const isMalformed = error.code !== 'HPE_INVALID_EOF_STATE';
  if (isMalformed && open.length === 1 && !only.headersSent && !only.req.complete) {
    // Its body is what is malformed, so the answer is its own.
    sendError(only, parserError(error), newRequestId());
    return;
  }
  // In the middle of another answer a 400 would be read as part of it.
  socket.destroy();
}

/** Node takes its own listeners off a CONNECT socket, so without one here a reset would end the process. */
function refuseConnect(socket: Socket): void {
  socket.on('error', () => socket.destroy()).resume();
  endWith(
    socket,
    new GatewayError('endpoint.unknown', 'this is not a tunnelling proxy: CONNECT is not served'),
  );
}

function endWith(socket: Socket, error: GatewayError): void {
  socket.end(rawErrorAnswer(error, newRequestId()));
  setTimeout(() => socket.destroy(), lingerMs).unref();
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
