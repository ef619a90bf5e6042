import { randomFillSync } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { GatewayError } from '../errors.ts';
import { memoize } from '../lib/memoize.ts';
import type { HeadMeaning } from './strict-head.ts';

/** Consumes a body. */
export interface BodyReader {
  take(piece: Buffer): void;
  end(): void;
  /** The body will not be complete: it is malformed, or the client has disconnected. */
  fail(error: GatewayError): void;
}

const nothing = Buffer.alloc(0);
const lowerCase = memoize((name) => name.toLowerCase());

/** One request: its head, and its body as it arrives. */
export class HttpRequest {
  /** As it came: nothing is decoded, merged or trimmed (RFC 9112, section 3.2). */
  readonly target: string;
  readonly method: string;
  readonly version: '1.0' | '1.1';
  /** Alternating names, as they were spelled, and values; Latin-1 (one character per byte). */
  readonly rawHeaders: readonly string[];
  /** Bytes of the body; undefined if it comes in chunks. */
  readonly bodyLength: number | undefined;
  readonly expectsContinue: boolean;
  readonly #message: IncomingMessage;
  #received = 0;
  #isReceived: boolean;
  #whole: Buffer | undefined;
  #reader: BodyReader | undefined;
  #failure: GatewayError | undefined;

  constructor(message: IncomingMessage, { version, bodyLength, expectsContinue }: HeadMeaning) {
    this.#message = message;
    this.method = message.method ?? '';
    this.target = message.url ?? '';
    this.rawHeaders = message.rawHeaders;
    this.version = version;
    this.bodyLength = bodyLength;
    this.expectsContinue = expectsContinue;
    this.#isReceived = bodyLength === 0;
  }

  /** The client's address; empty if it has disconnected. */
  get remoteAddress(): string {
    return this.#message.socket.remoteAddress ?? '';
  }

  /** Whether the whole body has arrived. */
  get isComplete(): boolean {
    // Node sets `complete` only a little later.
    return this.#isReceived || this.#message.complete || this.#message.readableLength === this.bodyLength;
  }

  /**
   * The value of a header by its lower-case name. Several of one name are joined by commas, which means the same (RFC 9110,
   * section 5.3): if only one is allowed, the list is not a valid value.
   */
  header(name: string): string | undefined {
    const raw = this.rawHeaders;
    let value: string | undefined;
    for (let i = 0; i < raw.length; i += 2) {
      const spelling = raw[i] as string;
      if (spelling.length !== name.length || lowerCase(spelling) !== name) continue;
      const each = raw[i + 1] as string;
      value = value === undefined ? each : joined(name, value, each);
    }
    return value;
  }

  /**
   * The value of a header, which is taken out of the head: nothing that reads the head afterwards gets it, not even if it
   * has known the list since before.
   */
  takeHeader(name: string): string | undefined {
    const value = this.header(name);
    if (value === undefined) return undefined;
    const { rawHeaders } = this.#message;
    for (let i = rawHeaders.length - 2; i >= 0; i -= 2) {
      if (lowerCase(rawHeaders[i] as string) === name) rawHeaders.splice(i, 2);
    }
    return value;
  }

  /** Changes the headers that are still there: those whose names are refused are taken out; whether any has changed. */
  scrubHeaders(
    scrub: (value: string) => string,
    by: { isRefused(name: string): boolean; isLeft(name: string): boolean },
  ): boolean {
    const { rawHeaders } = this.#message;
    let isChanged = false;
    for (let i = rawHeaders.length - 2; i >= 0; i -= 2) {
      if (by.isLeft(rawHeaders[i] as string)) continue;
      const value = rawHeaders[i + 1] as string;
      const scrubbed = scrub(value);
      isChanged ||= scrubbed !== value;
      rawHeaders[i + 1] = scrubbed;
      if (!by.isRefused(rawHeaders[i] as string)) continue;
      rawHeaders.splice(i, 2);
      isChanged = true;
    }
    return isChanged;
  }

  /** All headers by their lower-case names. */
  get headers(): Readonly<Record<string, string | undefined>> {
    const all: Record<string, string | undefined> = Object.create(null);
    for (let i = 0; i < this.rawHeaders.length; i += 2) {
      const name = lowerCase(this.rawHeaders[i] as string);
      const before = all[name];
      const each = this.rawHeaders[i + 1] as string;
      all[name] = before === undefined ? each : joined(name, before, each);
    }
    return all;
  }

  /** The body, if all of it arrived with the head and so need not be read. */
  whole(): Buffer | undefined {
    if (this.#whole === undefined && this.#reader === undefined && this.isComplete) {
      this.#isReceived = true;
      this.#whole = asOwn((this.#message.read() as Buffer | null) ?? nothing); // no encoding was set, so it has bytes
    }
    return this.#whole;
  }

  /** Passes the body to a reader, from what has already arrived to its end. Call once. */
  read(reader: BodyReader): void {
    const whole = this.whole();
    this.#reader = reader;
    if (whole !== undefined) {
      reader.take(whole);
      return reader.end();
    }
    if (this.#failure !== undefined) return reader.fail(this.#failure);
    this.#message.on('data', (piece: Buffer) => this.#take(asOwn(piece)));
    this.#message.on('end', () => this.#end());
  }

  /** For the connection: the body will not be complete. */
  fail(error: GatewayError): void {
    if (this.isComplete || this.#failure !== undefined) return;
    this.#failure = error;
    this.#reader?.fail(error);
  }

  #take(piece: Buffer): void {
    if (this.#failure !== undefined) return;
    this.#received += piece.length;
    this.#reader?.take(piece);
    if (this.#received === this.bodyLength) this.#end();
  }

  #end(): void {
    if (this.#isReceived || this.#failure !== undefined) return;
    this.#isReceived = true;
    this.#reader?.end();
  }
}

/**
 * The same bytes as a buffer that JavaScript made. Those of Node's HTTP parser have a hidden class of their own, which V8
 * forgets whenever no body is in memory, and with it the code that is optimized for it.
 */
function asOwn({ buffer, byteOffset, length }: Buffer): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}

function joined(name: string, before: string, value: string): string {
  return `${before}${name === 'cookie' ? '; ' : ', '}${value}`;
}

/** A fresh `req_…` id: 120 random bits, so ids of several gateways never collide. */
export const newRequestId = createIds({ bytes: 15, batch: 128 });

/** Draws the bits of many ids at a time: a system call for each was a twentieth of a small exchange. */
function createIds({ bytes, batch }: { readonly bytes: number; readonly batch: number }): () => string {
  const bits = Buffer.alloc(bytes * batch);
  let used = bits.length;
  return () => {
    if (used === bits.length) {
      randomFillSync(bits);
      used = 0;
    }
    used += bytes;
    return `req_${bits.toString('hex', used - bytes, used)}`;
  };
}
