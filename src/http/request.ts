import type { GatewayError } from '../errors.ts';
import type { PieceTaker } from './chunked.ts';
import type { RequestHead } from './head.ts';

/** Who reads a body. */
export interface BodyReader {
  take(piece: Buffer): void;
  end(): void;
  /** The body will not be complete: it is malformed, or the client has left. */
  fail(error: GatewayError): void;
}

/** What a request needs of its connection. */
interface Source {
  readonly remoteAddress: string;
  pause(): void;
  resume(): void;
}

/** How much of a body is held for a handler that has not asked for it yet. */
const heldBytes = 64 * 1024;
const nothing = Buffer.alloc(0);

/** One request: its head, and its body while it arrives. */
export class HttpRequest implements PieceTaker {
  readonly method: string;
  /** The request target as it came (RFC 9112, section 3.2). */
  readonly target: string;
  readonly version: '1.0' | '1.1';
  /** Names as they were spelled and values, by turns. */
  readonly rawHeaders: readonly string[];
  /** Bytes of the body; undefined where it comes in chunks. */
  readonly bodyLength: number | undefined;
  readonly expectsContinue: boolean;
  /** Whether all of the body is here. */
  isComplete = false;
  readonly #names: readonly string[];
  readonly #source: Source;
  #reader: BodyReader | undefined;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #isPaused = false;
  #failure: GatewayError | undefined;

  constructor(head: RequestHead, source: Source) {
    this.method = head.method;
    this.target = head.target;
    this.version = head.version;
    this.rawHeaders = head.rawHeaders;
    this.bodyLength = head.bodyLength;
    this.expectsContinue = head.expectsContinue;
    this.#names = head.names;
    this.#source = source;
  }

  /** The client's address; empty where it has left. */
  get remoteAddress(): string {
    return this.#source.remoteAddress;
  }

  /**
   * The value of a header by its lower-case name. Several of one name are joined by commas, as they mean the
   * same (RFC 9110, section 5.3): where only one may be, the list is not a proper value of it.
   */
  header(name: string): string | undefined {
    const names = this.#names;
    let value: string | undefined;
    for (let i = 0; i < names.length; i += 1) {
      if (names[i] !== name) continue;
      const each = this.rawHeaders[2 * i + 1] as string;
      value = value === undefined ? each : joined(name, value, each);
    }
    return value;
  }

  /** All headers by their lower-case names. */
  get headers(): Readonly<Record<string, string | undefined>> {
    const all: Record<string, string | undefined> = Object.create(null);
    for (const [i, name] of this.#names.entries()) {
      const before = all[name];
      const each = this.rawHeaders[2 * i + 1] as string;
      all[name] = before === undefined ? each : joined(name, before, each);
    }
    return all;
  }

  /** The body, where all of it came with the head and so has no need to be read. */
  whole(): Buffer | undefined {
    if (!this.isComplete) return undefined;
    const [first = nothing, second] = this.#held;
    return second === undefined ? first : undefined;
  }

  /** Gives the body to a reader, from what is here already to its end. Call once. */
  read(reader: BodyReader): void {
    const held = this.#held;
    this.#held = [];
    this.#reader = reader;
    for (const piece of held) reader.take(piece);
    if (this.#failure !== undefined) reader.fail(this.#failure);
    else if (this.isComplete) reader.end();
    this.#goOn();
  }

  /** For the connection: the next piece of the body. */
  take(piece: Buffer): void {
    if (this.#reader !== undefined) return this.#reader.take(piece);
    this.#heldBytes += piece.length;
    this.#held.push(piece);
    if (this.#isPaused || this.#heldBytes <= heldBytes) return;
    this.#isPaused = true;
    this.#source.pause();
  }

  /** For the connection: the body is complete. */
  end(): void {
    this.isComplete = true;
    this.#goOn();
    this.#reader?.end();
  }

  /** For the connection: the body will not be complete. */
  fail(error: GatewayError): void {
    if (this.isComplete || this.#failure !== undefined) return;
    this.#failure = error;
    this.#reader?.fail(error);
  }

  /** What follows on the connection is no business of this body any more. */
  #goOn(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#source.resume();
  }
}

function joined(name: string, before: string, value: string): string {
  return `${before}${name === 'cookie' ? '; ' : ', '}${value}`;
}
