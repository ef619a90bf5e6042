import { STATUS_CODES } from 'node:http';
import { joinedBytes } from './channel.ts';
import { unfitInValue } from './field-lines.ts';
import type { HttpRequest } from './request.ts';

/** Names and values by turns. */
export type HeaderList = readonly string[];

/** Told when bytes have left, or with an error when they never will. */
export type Done = (error?: Error | null) => void;

/** What an answer needs of its connection. */
export interface Wire {
  /** Whether the connection is not needed after this answer. */
  endsWith(response: HttpResponse): boolean;
  /** Whether nothing leaves any more; what was on its way then is still called written. */
  readonly isDestroyed: boolean;
  /** The Date header's line. */
  dateLine(): string;
  /** Gives bytes, or a text of a character for each byte, to the client. False asks for a pause until it is told to go on. */
  write(data: Buffer | string, done: Done | undefined): boolean;
  /** Two writes that leave together. */
  writeBoth(head: string, body: Buffer, done: Done | undefined): boolean;
  /** The answer is over, and with it the connection where `closes` says so. */
  ended(response: HttpResponse): void;
  destroy(): void;
}

/** What may wait behind another answer before its writer is asked to pause. */
const waitingBytes = 64 * 1024;
/** How long the last words of a broken answer may take to leave. */
const lastWordsMs = 1_000;
const lastChunk = '0\r\n\r\n';
/** What the client is told; the server waits a little longer, for what is on its way then. */
export const keepAliveS = 60;

/** How a client knows where the body ends; `bare`: where the connection does. */
type Framing = 'no body' | 'length' | 'chunked' | 'bare';

interface Waiting {
  readonly data: Buffer | string;
  readonly done: Done | undefined;
}

/**
 * One answer. Without a content-length its body goes out in chunks, and to a client of HTTP/1.0 bare, until
 * the connection ends. Answers behind another one of their connection wait for their turn.
 */
export class HttpResponse {
  readonly request: HttpRequest;
  status = 0;
  /** Whether the connection ends with this answer; to be set before the head is written. */
  closes: boolean;
  /** Whether all of it has left. */
  isFinished = false;
  /** Whether it is over, finished or not. */
  isClosed = false;
  readonly #wire: Wire;
  #isTurn: boolean;
  #waiting: Waiting[] | undefined;
  #waitingBytes = 0;
  #head = '';
  #framing: Framing = 'no body';
  #isEnded = false;
  #isBroken = false;
  #onClose: (() => void)[] = [];
  #onDrain: (() => void) | undefined;

  constructor(wire: Wire, request: HttpRequest, { isTurn, closes }: { isTurn: boolean; closes: boolean }) {
    this.#wire = wire;
    this.request = request;
    this.#isTurn = isTurn;
    this.closes = closes;
  }

  get headersSent(): boolean {
    return this.status !== 0;
  }

  /** Whether a client takes what it has got for the whole answer when the connection ends. */
  get isBare(): boolean {
    return this.#framing === 'bare';
  }

  /** Whether nothing more will be written. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Tells a client that waits for it to send its body. */
  writeContinue(): void {
    this.#give('HTTP/1.1 100 Continue\r\n\r\n', undefined);
  }

  /**
   * Makes the head, which leaves with the first piece of the body, or with `flushHead`. Names are in lower case.
   * Throws TypeError for a value that can't be in a header, and Error where there is a head already.
   */
  writeHead(status: number, headers: HeaderList): void {
    if (this.headersSent) throw new Error('an answer has only one head');
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`;
    let hasLength = false;
    for (let i = 0; i < headers.length; i += 2) {
      const name = headers[i] as string;
      const value = headers[i + 1] as string;
      // A provider's values come through here.
      if (unfitInValue.test(value))
        throw new TypeError(`the header ${name} has a character that no header can have`);
      if (name === 'content-length') hasLength = true;
      head += `${name}: ${value}\r\n`;
    }
    const { request } = this;
    // A body that nobody read to its end would be taken for the next request.
    if (!request.isComplete || this.#wire.endsWith(this)) this.closes = true;
    if (hasBody(request.method, status)) {
      this.#framing = hasLength ? 'length' : request.version === '1.1' ? 'chunked' : 'bare';
      if (this.#framing === 'chunked') head += 'transfer-encoding: chunked\r\n';
      if (this.#framing === 'bare') this.closes = true;
    }
    head += this.#wire.dateLine();
    head += this.closes
      ? 'connection: close\r\n\r\n'
      : `connection: keep-alive\r\nkeep-alive: timeout=${keepAliveS}\r\n\r\n`;
    this.status = status;
    this.#head = head;
  }

  /** Sends the head now: clients of streams wait for it. */
  flushHead(): void {
    const head = this.#takeHead();
    if (head !== '') this.#give(head, undefined);
  }

  /**
   * False asks for a pause until `onDrain`. `done` is called when the piece has left, or with an error.
   * Throws Error where there is no head yet.
   */
  write(piece: Buffer, done?: Done): boolean {
    if (this.#isEnded || this.#isBroken) return this.#giveNothing(done);
    this.#requireHead();
    // A chunk of no bytes would be the last one, and tell the client that the body is whole.
    if (piece.length === 0 || this.#framing === 'no body') return this.#giveNothing(done);
    if (this.#framing !== 'chunked') return this.#send(piece, done);
    const size = `${piece.length.toString(16)}\r\n`;
    if (piece.length <= joinedBytes) {
      return this.#give(`${this.#takeHead()}${size}${piece.toString('latin1')}\r\n`, done);
    }
    return this.#send(Buffer.concat([Buffer.from(size), piece, Buffer.from('\r\n')]), done);
  }

  /**
   * The body is whole, after a last piece. Without this call a client knows that it was cut. Throws Error where
   * there is no head yet.
   */
  end(last?: Buffer): void {
    if (this.#isEnded || this.#isBroken) return;
    this.#requireHead();
    const done: Done = (error) => {
      if (!error) this.#finish();
    };
    if (this.#framing === 'chunked' && last !== undefined) this.write(last);
    this.#isEnded = true;
    if (this.#framing === 'no body') this.#give(this.#takeHead(), done);
    else if (this.#framing === 'chunked') this.#give(`${this.#takeHead()}${lastChunk}`, done);
    else this.#send(last ?? Buffer.alloc(0), done);
  }

  /**
   * Ends a begun answer so that nobody takes it for a whole one: last words, no closing chunk, and no
   * connection. Behind another answer it waits for its turn, since that one must not be cut for it. Where no
   * head was written there is nothing that words could end, and only the connection goes.
   */
  breakOff(lastWords: Buffer): void {
    if (this.#isEnded || this.#isBroken) return;
    const done: Done = () => this.#wire.destroy();
    if (this.headersSent) this.write(lastWords, done);
    else this.#giveNothing(done);
    this.#isBroken = true;
    this.closes = true;
    if (this.#isTurn) this.#destroySoon();
  }

  /** Calls back once when the answer is over, at once where it is; `isFinished` tells how it ended. */
  onClose(listener: () => void): void {
    if (this.isClosed) listener();
    else this.#onClose.push(listener);
  }

  /** Calls back when `write` may go on; once, and only the last listener. */
  onDrain(listener: (() => void) | undefined): void {
    this.#onDrain = listener;
  }

  /** For the connection: the answers before are over. */
  takeTurn(): void {
    this.#isTurn = true;
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    let mayGoOn = true;
    for (const { data, done } of waiting) mayGoOn = this.#wire.write(data, done);
    if (this.#isBroken) this.#destroySoon();
    else if (mayGoOn) this.drained();
  }

  /** For the connection: there is room for more. */
  drained(): void {
    const listener = this.#onDrain;
    this.#onDrain = undefined;
    listener?.();
  }

  /** For the connection: it is closed, and the answer with it. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    for (const { done } of this.#waiting ?? []) done?.(connectionClosed());
    this.#waiting = undefined;
    this.#onDrain = undefined;
    const listeners = this.#onClose;
    this.#onClose = [];
    for (const listener of listeners) listener();
  }

  #requireHead(): void {
    if (!this.headersSent) throw new Error('an answer begins with its head');
  }

  #takeHead(): string {
    const head = this.#head;
    this.#head = '';
    return head;
  }

  /** A piece behind the head, where that has not left yet. */
  #send(piece: Buffer, done: Done | undefined): boolean {
    const head = this.#takeHead();
    if (head === '') return this.#give(piece, done);
    // A short body as text, each byte a character, joins the head in one write; as bytes it would be two.
    if (piece.length <= joinedBytes) return this.#give(`${head}${piece.toString('latin1')}`, done);
    if (this.#isTurn) return this.#wire.writeBoth(head, piece, done);
    this.#give(head, undefined);
    return this.#give(piece, done);
  }

  #giveNothing(done: Done | undefined): boolean {
    return done === undefined || this.#give('', done);
  }

  #give(data: Buffer | string, done: Done | undefined): boolean {
    if (this.#isTurn) return this.#wire.write(data, done);
    if (this.isClosed) {
      if (done !== undefined) process.nextTick(done, connectionClosed());
      return true;
    }
    this.#waiting ??= [];
    this.#waiting.push({ data, done });
    this.#waitingBytes += data.length;
    return this.#waitingBytes <= waitingBytes;
  }

  #destroySoon(): void {
    setTimeout(() => this.#wire.destroy(), lastWordsMs).unref();
  }

  #finish(): void {
    if (this.isClosed || this.#wire.isDestroyed) return;
    this.isFinished = true;
    this.#wire.ended(this);
    this.close();
  }
}

/** RFC 9112, section 6.3: behind such a head the client reads the next answer, whatever the headers say. */
function hasBody(method: string, status: number): boolean {
  return method !== 'HEAD' && status >= 200 && status !== 204 && status !== 304;
}

function connectionClosed(): Error {
  return new Error('the connection is closed');
}
