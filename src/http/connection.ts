import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { GatewayError, toGatewayError } from '../errors.ts';
import type { SwapRemoveItem } from '../lib/swap-remove-list.ts';
import type { TickQueue } from '../lib/tick-queue.ts';
import { HttpRequest, newRequestId } from './request.ts';
import { lingerMs, rawErrorAnswer, sendError } from './respond.ts';
import { type HeaderList, HttpResponse, lateHead, tooManyPipelined, type Wire } from './response.ts';
import { type HeadMeaning, malformed, readHttpHead } from './strict-head.ts';

export interface ConnectionLimits {
  /** Longest time for a request's head, in milliseconds. */
  readonly headMs: number;
  readonly headBytes: number;
  /** Requests that may wait for their answers at the same time (HTTP pipelining). */
  readonly pipelined: number;
  /** How long a client may stop reading while data waits for it, in milliseconds. */
  readonly writeMs: number;
}

/** What a connection needs of its server. */
export interface ConnectionServer {
  readonly limits: ConnectionLimits;
  readonly isDraining: boolean;
  readonly ticks: TickQueue;
  readonly keptAlive: HeaderList;
  onRequest(request: HttpRequest, response: HttpResponse): void;
  /** Absent if an Upgrade is ignored and the request answered as if it had none. */
  readonly onUpgrade: ((request: HttpRequest, socket: Socket, head: Buffer) => void) | undefined;
  closed(connection: Connection): void;
}

/**
 * One client's connection, on top of Node's: which answers are open, in which order, and what happens to the connection
 * after them. Malformed input is answered with an error and ends it.
 */
export class Connection implements SwapRemoveItem, Wire {
  place = -1;
  readonly #socket: Socket;
  readonly #server: ConnectionServer;
  /** The open answers, in the order of their requests. */
  #answers: readonly HttpResponse[] = none;
  /** The answers whose handlers have not been started yet. */
  #waiting: readonly HttpResponse[] = none;
  readonly #handOver = () => this.handOver();
  #lastRequest: HttpRequest | undefined;
  /** An error for malformed input after them: sent when they are over, or it would be read as part of one. */
  #refusal: GatewayError | undefined;
  /** `refusing`: further input is dropped. */
  #state: 'open' | 'refusing' | 'upgraded' = 'open';
  /** Whether Node's HTTP has let go of the socket. */
  #isDetached = false;
  readonly #destroySoon: () => void;
  readonly #onEnd: readonly (() => void)[];
  /** Since when a head is awaited: from the connection's start, then from its first byte; undefined between requests. */
  #headSinceMs: number | undefined = performance.now();
  /** How much had been received when the last answer ended. */
  #bytesBefore = 0;
  /** Bytes that the client has read, and since when it has read no more although data is waiting. */
  #readBytes = 0;
  #stuckSinceMs: number | undefined;

  constructor(socket: Socket, server: ConnectionServer) {
    this.#socket = socket;
    this.#server = server;
    this.#destroySoon = socket.destroySoon.bind(socket);
    // Node calls this after the last answer. A client that is still sending would lose that answer to a reset.
    socket.destroySoon = () => this.#end();
    // They are called from #closeHalf: Node's closes our half immediately.
    this.#onEnd = socket.listeners('end') as (() => void)[];
    socket.removeAllListeners('end').on('end', () => this.#peerEnded());
    socket.on('error', ignore); // 'close' follows
    socket.on('close', () => this.#closed());
  }

  get ticks(): TickQueue {
    return this.#server.ticks;
  }

  get keptAlive(): HeaderList {
    return this.#server.keptAlive;
  }

  get isDestroyed(): boolean {
    return this.#socket.destroyed;
  }

  /** A stopping server ends the connection after any answer, unless more requests have already begun. */
  endsWith(response: HttpResponse): boolean {
    return this.#server.isDraining && this.#answers.at(-1) === response;
  }

  isNext(response: HttpResponse): boolean {
    return this.#answers[0] === response;
  }

  /** Ends the connection now: with a reset if a normal close would pass for the end of an answer. */
  destroy(): void {
    if (this.#answers[0]?.isCloseDelimited === true && this.#socket.writable) this.#socket.resetAndDestroy();
    else this.#socket.destroy();
  }

  /** A request's head has arrived. */
  begin(message: IncomingMessage, node: ServerResponse): void {
    if (this.#state !== 'open') return;
    if (this.#answers.some(closes)) return this.#stopReading();
    const head = this.#readHead(message);
    if (head === undefined) return;
    const request = new HttpRequest(message, head);
    this.#headSinceMs = undefined;
    // A client that asks for another protocol may continue in it; a stopping server accepts nothing more.
    const isLast = !head.keepsAlive || head.asksForUpgrade || this.#server.isDraining;
    const response = new HttpResponse(this, node, request, { closes: isLast });
    this.#lastRequest = request;
    this.#answers = withLast(this.#answers, response);
    const { limits } = this.#server;
    if (this.#answers.length > limits.pipelined) {
      response.closes = true;
      sendError(response, tooManyPipelined(limits.pipelined), newRequestId());
      return this.#stopReading();
    }
    // Body data that came with the head is delivered only after this.
    this.#waiting = withLast(this.#waiting, response);
    if (this.ticks.isBusy) this.ticks.later(this.#handOver);
    else process.nextTick(this.#handOver);
  }

  /** Starts the handlers of the waiting requests. */
  handOver(): void {
    const waiting = this.#waiting;
    this.#waiting = none;
    for (const response of waiting) this.#start(response);
  }

  /** Starts the handler, unless an earlier answer has ended the connection meanwhile. */
  #start(response: HttpResponse): void {
    if (response.isClosed) return;
    if (this.#answers[0] !== response) {
      const at = this.#answers.indexOf(response);
      if (this.#answers.slice(0, at).some(closes)) {
        this.#answers = this.#answers.toSpliced(at, 1);
        return response.close();
      }
    }
    this.#server.onRequest(response.request, response);
  }

  /** A CONNECT: Node has detached the socket from its parser. */
  connect(): void {
    this.#isDetached = true;
    this.refuse(
      new GatewayError('endpoint.unknown', 'this is not a tunnelling proxy: CONNECT is not served'),
    );
  }

  /** An Upgrade, if there is a handler for them: Node has detached itself from the socket. */
  upgrade(message: IncomingMessage, head: Buffer): void {
    this.#isDetached = true;
    const { onUpgrade } = this.#server;
    if (this.#state !== 'open') return void this.#socket.destroy();
    const meaning = this.#readHead(message);
    if (meaning === undefined || onUpgrade === undefined) return;
    if (this.#answers.length > 0 || !meaning.asksForUpgrade) {
      return this.refuse(malformed('an Upgrade is accepted only on a connection without open requests'));
    }
    this.#state = 'upgraded';
    onUpgrade(new HttpRequest(message, meaning), this.#socket, head);
  }

  /** Input that is not a request, or a malformed body. */
  refuse(error: GatewayError): void {
    if (this.#state !== 'open') return;
    // The end of a malformed body is unknown: its handler answers the request, and nothing after it is read.
    if (this.#lastRequest?.isComplete === false) {
      this.#stopReading();
      return this.#lastRequest.fail(error);
    }
    this.#stopReading();
    if (this.#answers.length > 0) this.#refusal = error;
    else this.#sendRefusal(error);
  }

  /** The client is gone, or has closed its half within a request. */
  left(): void {
    this.#socket.destroy();
  }

  /** The server stops: ends an idle connection now. */
  drain(): void {
    if (this.#isIdle && this.#socket.bytesRead === this.#bytesBefore) this.#socket.destroy();
  }

  /** Ends the connection if its client has stopped reading, or sends its next head too slowly. */
  checkTime(nowMs: number): void {
    this.#checkHead(nowMs);
    const waiting = this.#socket.writableLength;
    const readBytes = this.#socket.bytesWritten - waiting;
    if (waiting === 0 || this.#state === 'upgraded') {
      this.#stuckSinceMs = undefined;
    } else if (this.#stuckSinceMs === undefined || readBytes !== this.#readBytes) {
      this.#readBytes = readBytes;
      this.#stuckSinceMs = nowMs;
    } else if (nowMs - this.#stuckSinceMs >= this.#server.limits.writeMs) {
      this.destroy();
    }
  }

  /** Not Node's `headersTimeout`: it leaves out connections that another process has accepted. */
  #checkHead(nowMs: number): void {
    if (!this.#isIdle) return;
    if (this.#headSinceMs === undefined) {
      if (this.#socket.bytesRead !== this.#bytesBefore) this.#headSinceMs = nowMs;
    } else if (nowMs - this.#headSinceMs >= this.#server.limits.headMs) {
      this.refuse(lateHead());
    }
  }

  /** Whether nothing but the next head is awaited. */
  get #isIdle(): boolean {
    return this.#answers.length === 0 && this.#state === 'open' && this.#lastRequest?.isComplete !== false;
  }

  ended(response: HttpResponse): void {
    this.#answers = this.#answers.length === 1 ? none : this.#answers.slice(1);
    // An idle connection keeps nothing of what came over it: nobody counts it any more.
    if (this.#lastRequest === response.request && response.request.isComplete) this.#lastRequest = undefined;
    this.#bytesBefore = this.#socket.bytesRead;
    if (response.closes) return; // Node has called destroySoon
    const next = this.#answers[0];
    if (next !== undefined) return next.begin();
    if (this.#refusal !== undefined) return this.#sendRefusal(this.#refusal);
    if (this.#server.isDraining) this.#end();
  }

  #readHead(message: IncomingMessage): HeadMeaning | undefined {
    try {
      return readHttpHead(message, this.#server.limits.headBytes);
    } catch (error) {
      this.#lastRequest = undefined; // its body is not waited for
      this.refuse(toGatewayError(error));
      return undefined;
    }
  }

  #sendRefusal(error: GatewayError): void {
    if (!this.#socket.writable) return void this.#socket.destroy();
    this.#socket.write(rawErrorAnswer(error, newRequestId()));
    this.#linger();
  }

  #end(): void {
    if (this.#state === 'open' && this.#lastRequest?.isComplete !== false) this.#destroySoon();
    else this.#linger();
  }

  /** Closes our half only, and the other when the client has had time to read. */
  #linger(): void {
    this.#stopReading();
    this.#socket.end();
    setTimeout(() => this.#socket.destroy(), lingerMs).unref();
  }

  /** Detaches Node's parser from the socket: further input is dropped unread. */
  #stopReading(): void {
    if (this.#state === 'refusing') return;
    this.#state = 'refusing';
    this.#socket.removeAllListeners('data').on('data', ignore).resume();
  }

  /** Our half closes with the client's, after what has been written: an unfinished answer is cut. */
  #peerEnded(): void {
    if (this.#isDetached) return;
    this.handOver();
    const [first] = this.#answers;
    if (first?.isCloseDelimited === true && !first.isEnded) return this.destroy();
    const waits = first !== undefined && this.ticks.isBusy;
    // What is answered immediately is written at the end of the tick, each answer after the one before it has left.
    if (waits) this.ticks.later(() => setImmediate(() => this.#closeHalf()));
    for (const answer of [...this.#answers]) answer.endNow();
    if (!waits) this.#closeHalf();
  }

  #closeHalf(): void {
    for (const listener of this.#onEnd)
      if (!this.#socket.destroyed && !this.#isDetached) listener.call(this.#socket);
  }

  #closed(): void {
    this.#lastRequest?.fail(new GatewayError('client.left', 'the client left before its body was complete'));
    const open = this.#answers;
    this.#answers = none;
    for (const answer of open) answer.close();
    this.#server.closed(this);
  }
}

const none: readonly HttpResponse[] = [];

/** Nearly always it is the only one: a list of one is smaller than a list that grows. */
function withLast(answers: readonly HttpResponse[], last: HttpResponse): readonly HttpResponse[] {
  return answers.length === 0 ? [last] : [...answers, last];
}

/** Whether no answer may follow this one. */
function closes(response: HttpResponse): boolean {
  return response.closes;
}

function ignore(): void {
  // what a client that has been answered still sends
}
