import type { Tally } from '../../dialects/usage.ts';
import type { GatewayError } from '../../errors.ts';
import type { AnswerStream } from './answer-stream.ts';
import type { Masks } from './masks.ts';

/** A stream with configured secrets masked in each of its events. */
export class ScrubbedStream implements AnswerStream {
  readonly #inner: AnswerStream;
  readonly #masks: Masks;

  /** `inner` must return whole events. */
  constructor(inner: AnswerStream, masks: Masks) {
    this.#inner = inner;
    this.#masks = masks;
  }

  transform(chunk: Buffer): Buffer {
    return this.#scrub(this.#inner.transform(chunk));
  }

  end(): Buffer {
    return this.#scrub(this.#inner.end());
  }

  fail(error: GatewayError, requestId: string): Buffer {
    return this.#scrub(this.#inner.fail(error, requestId));
  }

  get state(): AnswerStream['state'] {
    return this.#inner.state;
  }

  get isWhole(): boolean {
    return this.#inner.isWhole;
  }

  get tally(): Tally {
    return this.#inner.tally;
  }

  #scrub(events: Buffer): Buffer {
    return events.length === 0 ? events : this.#masks.bytes(events);
  }
}
