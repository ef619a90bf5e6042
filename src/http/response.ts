import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { GatewayError } from '../errors.ts';
import type { TickQueue } from '../lib/tick-queue.ts';
import type { HttpRequest } from './request.ts';

/** Names and values, alternating. */
export type HeaderList = readonly string[];

/** What an answer needs of its connection. */
export interface Wire {
  readonly ticks: TickQueue;
  /** The headers of an answer after which the connection stays. */
  readonly keptAlive: HeaderList;
  /** Whether the connection is not needed after this answer. */
  endsWith(response: HttpResponse): boolean;
  /** Whether all answers before this one are over. */
  isNext(response: HttpResponse): boolean;
  /** Whether nothing can be sent any more; Node still reports writes in progress as finished. */
  readonly isDestroyed: boolean;
  /** The answer is over, and so is the connection if `closes` is set. */
  ended(response: HttpResponse): void;
  destroy(): void;
}

/** What must be done before the last byte of an answer leaves: in two steps, so that many answers share the second. */
export interface Settlement {
  /** The answer is complete; its last byte leaves at the end of this tick. */
  settle(): void;
  /** That byte leaves when this returns, or once the promise that is returned, which must not reject, has resolved. */
  commit(): Promise<void> | undefined;
}

/** Longest piece, in bytes, that is copied: a body into its head's write, an event into its chunk. */
const joinedBytes = 16 * 1024;
/** A long body is written in slices of this many bytes: only a completed write shows that the client is reading. */
const sliceBytes = 64 * 1024;
/** How long, in milliseconds, the last event of a broken answer may take to leave. */
const lastEventMs = 1_000;
const nothing = Buffer.alloc(0);
const closed: HeaderList = ['connection', 'close'];
const chunked: HeaderList = ['transfer-encoding', 'chunked'];
const none: HeaderList = [];

/**
 * One answer. Without a content-length its body is chunked, or for an HTTP/1.0 client delimited by the end of the
 * connection. Pipelined answers wait for the ones before them.
 */
export class HttpResponse {
  readonly request: HttpRequest;
  status = 0;
  /** The headers as they were written, without those of the connection. */
  headers: HeaderList = none;
  /** Headers that every answer to this request has. */
  always: HeaderList = none;
  /** Whether the connection ends with this answer; to be set before the head is written. */
  closes: boolean;
  /** Whether all of it has left. */
  isFinished = false;
  /** Whether it is over, finished or not. */
  isClosed = false;
  /** Whether only the end of the connection ends the body: a client takes what it has received by then for all of it. */
  isCloseDelimited = false;
  /** Whether nothing more will be written. */
  isEnded = false;
  readonly #wire: Wire;
  readonly #response: ServerResponse;
  #isBroken = false;
  #isChunked = false;
  /** Whether the head has left, and pieces may follow it as chunks. */
  #mayWriteChunks = false;
  /** The data of `end` that has not been written yet. */
  #rest: Buffer = nothing;
  #onClose: (() => void)[] = [];
  #settlement: Settlement | undefined;
  /** The data of `end` that waits for the end of the tick, because many answers end in it. */
  #held: Buffer | undefined;
  #onDrain: (() => void) | undefined;
  #listensForDrain = false;
  /** Whether chunks that Node's answer does not know of wait in the socket. */
  #awaitsSocket = false;
  readonly #socketDrained = () => {
    this.#awaitsSocket = false;
    this.#drained();
  };

  constructor(wire: Wire, response: ServerResponse, request: HttpRequest, { closes }: { closes: boolean }) {
    this.#wire = wire;
    this.#response = response;
    this.request = request;
    this.closes = closes;
    wire.ticks.enter();
    response.on('finish', () => this.#finish());
  }

  get headersSent(): boolean {
    return this.status !== 0;
  }

  /** Sends 100 Continue to a client that waits for it. */
  writeContinue(): void {
    this.#response.writeContinue();
  }

  /**
   * Makes the head, which leaves with the first piece of the body, or with `flushHead`. Names are in lower case.
   * Throws TypeError for a value that can't be in a header, and Error where there is a head already.
   */
  writeHead(status: number, headers: HeaderList): void {
    if (this.headersSent) throw new Error('an answer has only one head');
    const { request } = this;
    const isUnframed = hasBody(request.method, status) && !hasLength(headers);
    const isCloseDelimited = isUnframed && request.version === '1.0';
    // The unread rest of a body would be taken for the next request.
    const closes = this.closes || isCloseDelimited || !request.isComplete || this.#wire.endsWith(this);
    // `concat` allocates a list of the right size; a growing one leaves garbage behind.
    const list = headers.concat(
      this.always,
      closes ? closed : this.#wire.keptAlive,
      isUnframed && !isCloseDelimited ? chunked : none,
    );
    this.#response.writeHead(status, list);
    this.#isChunked = isUnframed && !isCloseDelimited;
    this.headers = headers;
    this.closes = closes;
    this.isCloseDelimited = isCloseDelimited;
    this.status = status;
  }

  /** Sends the head now: clients of streams wait for it. */
  flushHead(): void {
    this.#response.flushHeaders();
    this.#mayWriteChunks = this.#isChunked;
  }

  /** False asks for a pause until `onDrain`. Throws Error if there is no head yet. */
  write(piece: Buffer): boolean {
    if (this.#isOver) return true;
    this.#requireHead();
    // Node ignores an empty piece, but asks for a pause.
    if (piece.length === 0 || !hasBody(this.request.method, this.status)) return true;
    const { socket } = this.#response;
    // There is none while answers before this one are open.
    const mayWrite = this.#mayWriteChunks && piece.length <= joinedBytes && socket?.writable === true;
    return mayWrite ? this.#writeChunk(socket, piece) : this.#response.write(piece);
  }

  /**
   * A piece as a chunk, in one text: Node's makes four writes of it, which cost as much as all that is done with an event
   * before. What is written in one tick leaves at its end: the system calls of all answers follow one another.
   */
  #writeChunk(socket: Socket, piece: Buffer): boolean {
    if (socket.writableCorked === 0) {
      socket.cork();
      process.nextTick(uncork, socket);
    }
    const text = `${piece.length.toString(16)}\r\n${piece.toString('latin1')}\r\n`;
    if (socket.write(text, 'latin1')) return true;
    if (!this.#awaitsSocket) socket.once('drain', this.#socketDrained);
    this.#awaitsSocket = true;
    return false;
  }

  /**
   * Completes the body, after a last piece. Without this call a client notices that it was cut off. Throws Error if there
   * is no head yet.
   */
  end(last?: Buffer): void {
    if (this.#isOver) return;
    this.#requireHead();
    this.isEnded = true;
    this.#settlement?.settle();
    const { ticks } = this.#wire;
    if (last === undefined || last.length > joinedBytes || !ticks.isBusy) return this.#leave(last);
    this.#held = last;
    ticks.later(() => this.#release());
  }

  #release(): void {
    const last = this.#held;
    if (last === undefined) return;
    this.#held = undefined;
    this.#leave(last);
  }

  #leave(last: Buffer | undefined): void {
    const waiting = this.#settlement?.commit();
    if (waiting === undefined) this.#complete(last);
    else void waiting.then(() => this.#complete(last)); // it never rejects
  }

  #complete(last: Buffer | undefined): void {
    if (this.#isBroken || this.isClosed) return;
    if (last === undefined || last.length === 0 || !hasBody(this.request.method, this.status))
      this.#response.end();
    else if (last.length > joinedBytes) this.#endInSlices(last);
    else this.#response.end(last.toString('latin1'), 'latin1'); // as one text with its head
  }

  /**
   * Ends an answer that has begun so that no client takes it for a complete one: with a last event, without the closing
   * chunk, and by closing the connection. It waits for the answers before it. If there is no head yet, only the connection
   * is closed.
   */
  breakOff(lastEvent: Buffer): void {
    if (this.#isOver) return;
    if (this.headersSent) this.#response.write(lastEvent, () => this.#wire.destroy());
    this.#isBroken = true;
    this.closes = true;
    if (this.#wire.isNext(this)) this.begin();
  }

  /** Calls back once when the answer is over, immediately if it already is; `isFinished` says how it ended. */
  onClose(listener: () => void): void {
    if (this.isClosed) listener();
    else this.#onClose.push(listener);
  }

  /** What is to be done before an answer's last byte leaves. Not for an answer that is broken off. */
  beforeEnd(settlement: Settlement): void {
    this.#settlement = settlement;
  }

  /** Calls back once when `write` may continue; only the last listener is called. */
  onDrain(listener: (() => void) | undefined): void {
    this.#onDrain = listener;
    if (this.#listensForDrain || listener === undefined) return;
    this.#listensForDrain = true;
    this.#response.on('drain', () => this.#drained());
  }

  /** For the connection: the answers before this one are over. */
  begin(): void {
    if (!this.#isBroken) return;
    if (!this.headersSent) this.#wire.destroy();
    else setTimeout(() => this.#wire.destroy(), lastEventMs).unref();
  }

  /** For the connection: nothing can be written after this, so what is left is written in one piece. */
  endNow(): void {
    this.#release();
    const rest = this.#rest;
    if (this.isClosed || rest.length === 0) return;
    this.#rest = nothing;
    if (rest.length > joinedBytes) this.#response.end(rest);
    else this.#response.end(rest.toString('latin1'), 'latin1');
  }

  /** For the connection: it is closed, and the answer with it. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#wire.ticks.leave();
    this.#onDrain = undefined;
    const listeners = this.#onClose;
    this.#onClose = [];
    for (const listener of listeners) listener();
  }

  #requireHead(): void {
    if (!this.headersSent) throw new Error('an answer begins with its head');
  }

  get #isOver(): boolean {
    return this.isEnded || this.#isBroken || this.isClosed;
  }

  #endInSlices(body: Buffer): void {
    this.#rest = body;
    while (this.#rest.length > sliceBytes) {
      const slice = this.#rest.subarray(0, sliceBytes);
      this.#rest = this.#rest.subarray(sliceBytes);
      if (!this.#response.write(slice)) return this.onDrain(() => this.#endInSlices(this.#rest));
    }
    this.endNow();
  }

  #drained(): void {
    const listener = this.#onDrain;
    this.#onDrain = undefined;
    listener?.();
  }

  #finish(): void {
    if (this.isClosed || this.#wire.isDestroyed) return;
    this.isFinished = true;
    this.#wire.ended(this);
    this.close();
  }
}

/** RFC 9112, section 6.3: after a head without a body the client reads the next answer, even if headers announce a body. */
function hasBody(method: string, status: number): boolean {
  return method !== 'HEAD' && status >= 200 && status !== 204 && status !== 304;
}

function hasLength(headers: HeaderList): boolean {
  for (let i = 0; i < headers.length; i += 2) if (headers[i] === 'content-length') return true;
  return false;
}

/** The error for a request head that timed out. */
export function lateHead(): GatewayError {
  return new GatewayError('request.timeout', 'the request head did not arrive in time');
}

/** The error for a request beyond those that may wait on a connection. */
export function tooManyPipelined(limit: number): GatewayError {
  const message = `more than ${limit} requests wait on this connection; open another one`;
  return new GatewayError('gateway.overloaded', message, { retryAfterS: 1 });
}

function uncork(socket: Socket): void {
  socket.uncork();
}
