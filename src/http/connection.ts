import type { Socket } from 'node:net';
import { GatewayError, toGatewayError } from '../errors.ts';
import type { SwapRemoveItem } from '../swap-remove-list.ts';
import { Channel, type ChannelReader } from './channel.ts';
import { ChunkedBody } from './chunked.ts';
import { isHopeless, parseHead, type RequestHead, withoutEmptyLines } from './head.ts';
import { LengthBody } from './length-body.ts';
import { malformed } from './malformed.ts';
import { HttpRequest } from './request.ts';
import { lingerMs, newRequestId, rawErrorAnswer, sendError } from './respond.ts';
import { type Done, HttpResponse, keepAliveS, type Wire } from './response.ts';
import type { Turn } from './tick.ts';

export interface ConnectionLimits {
  /** Longest time for a request's head, in milliseconds. */
  readonly headMs: number;
  readonly headBytes: number;
  /** Requests that may wait for their answers at once (HTTP pipelining). */
  readonly pipelined: number;
}

/** What a connection needs of its server. */
export interface Server {
  readonly limits: ConnectionLimits;
  readonly turn: Turn;
  readonly isDraining: boolean;
  dateLine(): string;
  onRequest(request: HttpRequest, response: HttpResponse): void;
  /** Absent where an Upgrade is ignored and the request answered as if it had none. */
  readonly onUpgrade: ((request: HttpRequest, socket: Socket, head: Buffer) => void) | undefined;
  closed(connection: Connection): void;
}

interface Incoming {
  readonly request: HttpRequest;
  readonly body: ChunkedBody | LengthBody;
}

const headEnd = Buffer.from('\r\n\r\n');
const nothing = Buffer.alloc(0);
// A client that goes by what it was told may have sent a request just before the time is over.
const idleMs = (keepAliveS + 5) * 1_000;

/**
 * One client's connection: takes bytes, makes requests of them, one after the other, and gives their answers
 * in the same order. What is not well-formed is answered and ends it.
 */
export class Connection implements SwapRemoveItem, ChannelReader, Wire {
  place = -1;
  readonly #socket: Socket;
  readonly #channel: Channel;
  readonly #server: Server;
  /** The beginning of a head whose end has not come. */
  #begun: Buffer = nothing;
  /** The request whose body is on its way. */
  #reading: Incoming | undefined;
  /** Those that are open, in the order of their requests. */
  readonly #answers: HttpResponse[] = [];
  /** What came behind them and is no request: told when they are over, or it would be read as part of one. */
  #refusal: GatewayError | undefined;
  /** `drained`: what still comes is dropped. */
  #state: 'open' | 'drained' | 'upgraded' = 'open';
  /** When the head that is awaited or begun must be here, by performance.now(). */
  #dueAt: number;

  constructor(socket: Socket, server: Server) {
    this.#socket = socket;
    this.#server = server;
    this.#dueAt = performance.now() + server.limits.headMs;
    this.#channel = new Channel(socket, server.turn, this);
    socket.on('drain', () => this.#answers[0]?.drained());
    socket.on('error', () => undefined); // 'close' follows
  }

  /** Not behind any answer of a server that stops: those that follow have been begun. */
  endsWith(response: HttpResponse): boolean {
    return this.#server.isDraining && this.#answers.at(-1) === response;
  }

  get remoteAddress(): string {
    return this.#socket.remoteAddress ?? '';
  }

  get isDestroyed(): boolean {
    return this.#socket.destroyed;
  }

  dateLine(): string {
    return this.#server.dateLine();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  write(data: Buffer | string, done: Done | undefined): boolean {
    return this.#channel.write(data, done);
  }

  writeBoth(head: string, body: Buffer, done: Done | undefined): boolean {
    return this.#channel.writeBoth(head, body, done);
  }

  /** Ends the connection now: with a reset where the end of it would pass for the end of an answer. */
  destroy(): void {
    if (this.#answers[0]?.isBare === true && this.#socket.writable) this.#socket.resetAndDestroy();
    else this.#socket.destroy();
  }

  ended(response: HttpResponse): void {
    this.#answers.shift();
    const isAllTaken = response.request.isComplete && this.#state === 'open';
    if (response.closes) return this.#end(isAllTaken ? 'at once' : 'when the client has read');
    const next = this.#answers[0];
    if (next !== undefined) return next.takeTurn();
    if (this.#refusal !== undefined) return this.#giveRefusal(this.#refusal);
    if (this.#server.isDraining && this.#begun.length === 0) return this.#end('at once');
    this.#dueAt = performance.now() + (this.#begun.length === 0 ? idleMs : this.#server.limits.headMs);
  }

  /** Ends the connection where what it waits for is overdue. */
  checkTime(now: number): void {
    if (now < this.#dueAt || this.#state !== 'open' || this.#answers.length > 0) return;
    if (this.#channel.hasArrived) return;
    const isIdle = this.#begun.length === 0 && this.#socket.bytesWritten > 0;
    if (isIdle) this.#socket.destroy();
    else this.#refuse(new GatewayError('request.timeout', 'the request head did not arrive in time'));
  }

  /** The server stops: ends an idle connection now, a busy one behind its answers. */
  drain(): void {
    this.#channel.takeArrived();
    const isIdle = this.#answers.length === 0 && this.#begun.length === 0;
    if (this.#state === 'open' && isIdle) this.#socket.destroy();
  }

  /** For the channel. */
  arrived(bytes: Buffer): void {
    let rest = bytes;
    while (rest.length > 0 && this.#state === 'open') {
      rest = this.#reading === undefined ? this.#takeHead(rest) : this.#takeBody(rest, this.#reading);
    }
  }

  /** Gives what is left of the bytes behind a head. */
  #takeHead(bytes: Buffer): Buffer {
    if (this.#answers.some(isLast)) {
      this.#state = 'drained';
      return nothing;
    }
    const searched = this.#begun.length;
    const all = withoutEmptyLines(searched === 0 ? bytes : Buffer.concat([this.#begun, bytes]));
    const end = all.indexOf(headEnd, Math.max(0, searched - headEnd.length));
    const { headBytes, headMs } = this.#server.limits;
    // Of the end, all but a byte may be here.
    if ((end < 0 ? all.length - headEnd.length + 1 : end) > headBytes) {
      return this.#refuse(new GatewayError('request.headers_too_large', 'the request head is too large'));
    }
    if (end < 0) {
      if (all.length > 0 && isHopeless(all, searched))
        return this.#refuse(malformed('the head begins like none'));
      if (searched === 0 && this.#answers.length === 0 && all.length > 0) {
        this.#dueAt = Math.min(this.#dueAt, performance.now() + headMs);
      }
      this.#begun = all;
      return nothing;
    }
    this.#begun = nothing;
    let head: RequestHead;
    try {
      head = parseHead(all.toString('latin1', 0, end));
    } catch (error) {
      return this.#refuse(toGatewayError(error));
    }
    return this.#begin(head, all.subarray(end + headEnd.length));
  }

  /** Hands a request over; gives the bytes that do not belong to it. */
  #begin(head: RequestHead, rest: Buffer): Buffer {
    const { onUpgrade, limits } = this.#server;
    const request = new HttpRequest(head, this);
    if (head.asksForUpgrade && onUpgrade !== undefined && this.#answers.length === 0) {
      this.#upgrade(request, rest, onUpgrade);
      return nothing;
    }
    // Who asks for another protocol may go on in it; a server that stops takes nothing behind.
    const closes = !head.keepsAlive || head.asksForUpgrade || this.#server.isDraining;
    const response = new HttpResponse(this, request, { isTurn: this.#answers.length === 0, closes });
    this.#answers.push(response);
    this.#dueAt = Number.POSITIVE_INFINITY;
    if (this.#answers.length > limits.pipelined) {
      this.#state = 'drained';
      response.closes = true;
      sendError(response, tooManyPipelined(limits), newRequestId());
      return nothing;
    }
    const behind = this.#startBody(request, rest);
    this.#server.onRequest(request, response);
    return behind;
  }

  /** A body that is all here is given as it is; of another one, what is here is left to be taken. */
  #startBody(request: HttpRequest, rest: Buffer): Buffer {
    const length = request.bodyLength;
    if (length === undefined || rest.length < length) {
      const body = length === undefined ? new ChunkedBody(request) : new LengthBody(request, length);
      this.#reading = { request, body };
      return rest;
    }
    if (length > 0) request.take(rest.subarray(0, length));
    request.end();
    return rest.subarray(length);
  }

  /** Gives what is left of the bytes behind a body. */
  #takeBody(bytes: Buffer, { request, body }: Incoming): Buffer {
    let taken: number;
    try {
      taken = body.push(bytes);
    } catch (error) {
      // Where a malformed body ends nobody knows: its request is answered by its handler, and nothing behind it.
      this.#state = 'drained';
      request.fail(toGatewayError(error));
      return nothing;
    }
    if (body.isComplete) {
      this.#reading = undefined;
      request.end();
    }
    return bytes.subarray(taken);
  }

  /** Answers what is no request. */
  #refuse(error: GatewayError): Buffer {
    this.#state = 'drained';
    if (this.#answers.length > 0) this.#refusal = error;
    else this.#giveRefusal(error);
    return nothing;
  }

  #giveRefusal(error: GatewayError): void {
    this.#socket.write(rawErrorAnswer(error, newRequestId()));
    this.#end('when the client has read');
  }

  /**
   * A client that is still sending when its connection is closed under it may lose the answer to a reset. So
   * only our half is closed at first, where that may be.
   */
  #end(when: 'at once' | 'when the client has read'): void {
    this.#state = 'drained';
    if (when === 'at once') return this.#socket.destroySoon();
    this.#socket.resume();
    this.#socket.end();
    setTimeout(() => this.#socket.destroy(), lingerMs).unref();
  }

  #upgrade(request: HttpRequest, head: Buffer, onUpgrade: NonNullable<Server['onUpgrade']>): void {
    this.#state = 'upgraded';
    request.end();
    this.#socket.removeAllListeners('drain');
    this.#channel.giveUp();
    onUpgrade(request, this.#socket, head);
  }

  /** Our half ends with the client's, behind what has been written: an answer that was to go on is cut. */
  peerEnded(): void {
    const answer = this.#answers[0];
    if (answer?.isBare === true && !answer.isEnded) this.destroy();
  }

  closed(): void {
    this.#reading?.request.fail(
      new GatewayError('client.left', 'the client left before its body was complete'),
    );
    for (const answer of this.#answers.splice(0)) answer.close();
    this.#server.closed(this);
  }
}

/** Whether nobody will get an answer behind this one. */
const isLast = ({ closes }: HttpResponse): boolean => closes;

function tooManyPipelined({ pipelined }: ConnectionLimits): GatewayError {
  const message = `more than ${pipelined} requests wait on this connection; open another one`;
  return new GatewayError('gateway.overloaded', message, { retryAfterS: 1 });
}
