import type { Socket } from 'node:net';
import { Channel, type ChannelReader } from '../http/channel.ts';
import { ChunkedBody, type PieceTaker } from '../http/chunked.ts';
import { LengthBody } from '../http/length-body.ts';
import type { Turn } from '../http/tick.ts';
import type { SwapRemoveItem } from '../swap-remove-list.ts';
import { type AnswerHead, BrokenHead, parseAnswerHead } from './answer-head.ts';
import type { HostRequest } from './pool.ts';
import type { Upstream } from './upstream.ts';

/** What a connection needs of its pool. */
export interface Keeper {
  readonly timeouts: { readonly connectMs: number; readonly headersMs: number; readonly idleMs: number };
  readonly turn: Turn;
  /** The pool's clock, in milliseconds; coarse. */
  readonly nowMs: number;
  /** The connection can take another request for so long, in milliseconds. */
  idle(connection: HostConnection, forMs: number | undefined): void;
  closed(connection: HostConnection): void;
}

export interface HostFailure {
  readonly kind: 'unreachable' | 'slow connect' | 'slow head' | 'slow body' | 'large head' | 'broken';
  readonly cause: Error;
}

interface Outgoing {
  readonly head: string;
  readonly body: Buffer | undefined;
}

const answerHeadBytes = 32 * 1024;
const headEnd = Buffer.from('\r\n\r\n');
const nothing = Buffer.alloc(0);

/**
 * A connection to a host, with one request on it at a time. It takes another one only where the answer ended
 * just where its head said it would, and the host has read all of the request: a byte too much could be the
 * beginning of somebody else's answer.
 */
export class HostConnection implements SwapRemoveItem, ChannelReader, PieceTaker {
  place = -1;
  readonly #socket: Socket;
  readonly #channel: Channel;
  readonly #keeper: Keeper;
  #state: 'connecting' | 'idle' | 'head' | 'body' | 'closed' = 'connecting';
  #waiting: Outgoing | undefined;
  #upstream: Upstream | undefined;
  /** The beginning of a head whose end has not come. */
  #begun: Buffer = nothing;
  #body: ChunkedBody | LengthBody | undefined;
  /** Whether the body is whole when the host ends its side. */
  #endsWithHost = false;
  #keepAliveMs: number | undefined;
  /** By the pool's clock. */
  #dueAtMs: number;
  #cause: Error | undefined;
  /** When an idle connection is no longer taken, by the pool's clock; the pool's own business. */
  idleUntilMs = 0;

  /** The socket connects; `connectEvent` tells that it has. */
  constructor(socket: Socket, connectEvent: 'connect' | 'secureConnect', keeper: Keeper) {
    this.#socket = socket;
    this.#keeper = keeper;
    this.#dueAtMs = keeper.nowMs + keeper.timeouts.connectMs;
    socket.once(connectEvent, () => this.#connected());
    this.#channel = new Channel(socket, keeper.turn, this);
    socket.on('error', (error) => {
      this.#cause ??= error;
    });
  }

  get isIdle(): boolean {
    return this.#state === 'idle' && !this.#socket.destroyed && !this.#channel.hasArrived;
  }

  /**
   * Sends a request, the head of which begins with those lines, and gives its answer to `upstream`. The
   * connection must be idle or new.
   */
  send(lines: string, { headers, body }: HostRequest, upstream: Upstream): void {
    this.#upstream = upstream;
    let head = `${lines}connection: keep-alive\r\n`;
    for (let i = 0; i < headers.length; i += 2) head += `${headers[i]}: ${headers[i + 1]}\r\n`;
    head += body === undefined ? '\r\n' : `content-length: ${body.length}\r\n\r\n`;
    if (this.#state === 'connecting') this.#waiting = { head, body };
    else this.#write({ head, body });
  }

  resume(): void {
    this.#dueAtMs = this.#keeper.nowMs + this.#keeper.timeouts.idleMs;
    this.#socket.resume();
  }

  /** Ends the connection; whoever waits on it hears nothing more. */
  destroy(): void {
    this.#upstream = undefined;
    this.#state = 'closed';
    this.#socket.destroy();
  }

  /** Ends it where what it waits for is overdue; a host that is held back is not late. */
  checkTime(nowMs: number): void {
    if (nowMs <= this.#dueAtMs || this.#socket.isPaused() || this.#channel.hasArrived) return;
    if (this.#state === 'connecting') this.#fail('slow connect', new Error('the connection took too long'));
    else if (this.#state === 'head') this.#fail('slow head', new Error('the head took too long'));
    else if (this.#state === 'body') this.#fail('slow body', new Error('nothing came for too long'));
  }

  #connected(): void {
    const request = this.#waiting;
    this.#waiting = undefined;
    if (request === undefined || this.#upstream === undefined) return this.destroy();
    this.#write(request);
  }

  #write({ head, body }: Outgoing): void {
    this.#state = 'head';
    this.#dueAtMs = this.#keeper.nowMs + this.#keeper.timeouts.headersMs;
    this.#upstream?.sent();
    if (body === undefined) this.#channel.write(head);
    else this.#channel.writeBoth(head, body);
  }

  /** For the channel. */
  arrived(bytes: Buffer): void {
    try {
      let rest = bytes;
      while (rest.length > 0 && this.#state !== 'closed') {
        if (this.#state === 'head') rest = this.#takeHead(rest);
        else if (this.#state === 'body') rest = this.#takeBody(rest);
        else throw new Error('the host sent what nobody asked for');
      }
    } catch (cause) {
      this.#fail('broken', cause as Error);
    }
  }

  #takeHead(bytes: Buffer): Buffer {
    const searched = this.#begun.length;
    const all = searched === 0 ? bytes : Buffer.concat([this.#begun, bytes]);
    const end = all.indexOf(headEnd, Math.max(0, searched - headEnd.length));
    // Of the end, all but a byte may be here.
    if ((end < 0 ? all.length - headEnd.length + 1 : end) > answerHeadBytes) {
      this.#fail('large head', new Error('the head is too large'));
      return nothing;
    }
    if (end < 0) {
      // What will never be a head need not be waited for.
      if (!'HTTP/1.'.startsWith(all.toString('latin1', 0, 7))) throw new BrokenHead('this is not HTTP');
      this.#begun = all;
      return nothing;
    }
    this.#begun = nothing;
    const head = parseAnswerHead(all.toString('latin1', 0, end));
    if (head.status === 101) throw new BrokenHead('the host changed the protocol, which nobody asked for');
    const rest = all.subarray(end + headEnd.length);
    if (head.status < 200) return rest; // an interim answer
    this.#startBody(head);
    return rest;
  }

  #startBody({ status, headers, body, keepAliveMs }: AnswerHead): void {
    const upstream = this.#upstream as Upstream; // there is one for as long as there is no whole answer
    this.#state = 'body';
    this.#dueAtMs = this.#keeper.nowMs + this.#keeper.timeouts.idleMs;
    this.#endsWithHost = body === 'until the end';
    this.#keepAliveMs = this.#endsWithHost ? 0 : keepAliveMs;
    const length = typeof body === 'number' ? body : Number.POSITIVE_INFINITY;
    this.#body = body === 'chunks' ? new ChunkedBody(this) : new LengthBody(this, length);
    upstream.head(status, headers);
    if (body === 0) this.#complete();
  }

  #takeBody(bytes: Buffer): Buffer {
    this.#dueAtMs = this.#keeper.nowMs + this.#keeper.timeouts.idleMs;
    const body = this.#body as ChunkedBody | LengthBody; // made with the head
    const taken = body.push(bytes);
    if (body.isComplete) this.#complete();
    return bytes.subarray(taken);
  }

  /** For the body's framing: a piece without it. */
  take(piece: Buffer): void {
    if (this.#upstream?.data(piece) === false) this.#socket.pause();
  }

  #complete(): void {
    const upstream = this.#upstream;
    this.#upstream = undefined;
    // The host may answer before it has read all; then nobody knows whether it will.
    const isReusable =
      this.#keepAliveMs !== 0 && this.#socket.writableLength === 0 && !this.#socket.destroyed;
    if (isReusable) {
      this.#state = 'idle';
      this.#socket.resume();
      this.#keeper.idle(this, this.#keepAliveMs);
    } else {
      this.destroy();
    }
    upstream?.complete();
  }

  /** The host ended its side; what has not come by now never will. */
  peerEnded(): void {
    // A reset right behind data comes as an end too (libuv), but then there is no peer any more.
    const isItsEnd = this.#endsWithHost && this.#socket.remoteAddress !== undefined;
    if (this.#state === 'body' && isItsEnd) this.#complete();
    else if (this.#state !== 'connecting') this.#fail('broken', hostClosed());
  }

  #fail(kind: HostFailure['kind'], cause: Error): void {
    const upstream = this.#upstream;
    this.destroy();
    upstream?.fail({ kind, cause });
  }

  closed(): void {
    const wasConnecting = this.#state === 'connecting';
    this.#state = 'closed';
    this.#keeper.closed(this);
    if (this.#upstream === undefined) return;
    this.#fail(wasConnecting ? 'unreachable' : 'broken', this.#cause ?? hostClosed());
  }
}

function hostClosed(): Error {
  return new Error('the host closed the connection');
}
