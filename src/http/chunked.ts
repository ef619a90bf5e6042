import { controlCharacter, token } from './field-lines.ts';
import { malformed } from './malformed.ts';

/** Who takes the pieces of a body. */
export interface PieceTaker {
  take(piece: Buffer): void;
}

// The body's own limit is smaller, and so many hexadecimal digits are exact.
const longestSize = 12;
const longestLine = 4 * 1024;
const longestTrailers = 16 * 1024;
// Of the whole body: small chunks with long extensions would cost far more than the body's own limit allows.
const longestExtensions = 16 * 1024;

const carriageReturn = 0x0d;
const lineFeed = 0x0a;

const sizeLine = /^([0-9a-fA-F]+)(?:;.*)?$/s;

/**
 * Takes the chunked coding off a body as it arrives (RFC 9112, section 7.1). Extensions and trailers are read
 * and dropped: nobody behind us gets to see them.
 */
export class ChunkedBody {
  isComplete = false;
  readonly #taker: PieceTaker;
  #state: 'size' | 'data' | 'data end' | 'trailers' = 'size';
  /** Bytes that this chunk still has. */
  #left = 0;
  /** The beginning of a line whose end has not come. */
  #line = '';
  #extensionBytes = 0;
  #trailerBytes = 0;

  constructor(taker: PieceTaker) {
    this.#taker = taker;
  }

  /** Reads on; gives how many of the bytes belong to the body. Throws request.framing. */
  push(bytes: Buffer): number {
    let at = 0;
    while (at < bytes.length && !this.isComplete) {
      at = this.#state === 'data' ? this.#takeData(bytes, at) : this.#takeLine(bytes, at);
    }
    return at;
  }

  #takeData(bytes: Buffer, at: number): number {
    const end = Math.min(at + this.#left, bytes.length);
    this.#left -= end - at;
    this.#taker.take(bytes.subarray(at, end));
    if (this.#left === 0) this.#state = 'data end';
    return end;
  }

  #takeLine(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(lineFeed, at);
    const text = bytes.toString('latin1', at, end < 0 ? bytes.length : end);
    this.#line += text;
    if (this.#state === 'data end' && this.#line !== '' && this.#line !== '\r') {
      throw malformed('a chunk is longer than its size');
    }
    if (this.#line.length > longestLine) throw malformed('a line between chunks is too long');
    if (end < 0) return bytes.length;
    if (this.#line.charCodeAt(this.#line.length - 1) !== carriageReturn) {
      throw malformed('a line between chunks has no proper end');
    }
    const line = this.#line.slice(0, -1);
    this.#line = '';
    this.#endLine(line);
    return end + 1;
  }

  #endLine(line: string): void {
    switch (this.#state) {
      case 'size': {
        const digits = sizeLine.exec(line)?.[1];
        if (digits === undefined || digits.length > longestSize || controlCharacter.test(line))
          throw malformed('the size of a chunk is no number');
        this.#extensionBytes += line.length - digits.length;
        if (this.#extensionBytes > longestExtensions)
          throw malformed('the extensions of chunks are too long');
        this.#left = Number.parseInt(digits, 16);
        this.#state = this.#left === 0 ? 'trailers' : 'data';
        return;
      }
      case 'trailers':
        this.#trailerBytes += line.length;
        if (line === '') this.isComplete = true;
        else if (this.#trailerBytes > longestTrailers || !isField(line))
          throw malformed('a trailer is malformed');
        return;
      default:
        this.#state = 'size';
    }
  }
}

function isField(line: string): boolean {
  const colon = line.indexOf(':');
  return colon > 0 && token.test(line.slice(0, colon)) && !controlCharacter.test(line);
}
