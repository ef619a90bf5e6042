import { SseParser } from '../../dialects/sse.ts';
import type { Tally } from '../../dialects/usage.ts';
import type { GatewayError } from '../../errors.ts';
import type { AnswerStream } from './answer-stream.ts';

/**
 * The events of a stream as the elements of one JSON array, for clients that did not ask for events. Of a stream that
 * failed the array has the error as its last element and is not closed.
 */
export class ArrayStream implements AnswerStream {
  readonly #inner: AnswerStream;
  #out = '';
  #isBegun = false;
  readonly #parser = new SseParser((_name, data) => this.#add(data));

  constructor(inner: AnswerStream) {
    this.#inner = inner;
  }

  transform(chunk: Buffer): Buffer {
    this.#parser.push(this.#inner.transform(chunk));
    return this.#take();
  }

  end(): Buffer {
    this.#parser.push(this.#inner.end());
    this.#parser.end();
    this.#out += this.#isBegun ? '\n]\n' : '[]\n';
    return this.#take();
  }

  fail(error: GatewayError, requestId: string): Buffer {
    this.#parser.push(this.#inner.fail(error, requestId));
    return this.#take();
  }

  get state(): AnswerStream['state'] {
    return this.#inner.state;
  }

  /** Never before its closing bracket. */
  get isWhole(): boolean {
    return false;
  }

  get tally(): Tally {
    return this.#inner.tally;
  }

  #add(element: string): void {
    this.#out += `${this.#isBegun ? ',\n' : '['}${element}`;
    this.#isBegun = true;
  }

  #take(): Buffer {
    const bytes = Buffer.from(this.#out);
    this.#out = '';
    return bytes;
  }
}
