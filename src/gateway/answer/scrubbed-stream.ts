import type { Dialect } from '../../dialects/dialect.ts';
import type { Tally } from '../../dialects/usage.ts';
import type { GatewayError } from '../../errors.ts';
import type { AnswerStream } from './answer-stream.ts';
import { PieceScrubber } from './piece-scrubber.ts';
import type { Scrubber } from './scrub.ts';

/** A stream with configured secrets masked, both within an event and split over several. */
export class ScrubbedStream implements AnswerStream {
  readonly #inner: AnswerStream;
  readonly #scrubber: Scrubber;
  readonly #pieces: PieceScrubber;

  /** `inner` must return whole events of the dialect. */
  constructor(inner: AnswerStream, scrubber: Scrubber, { pieceMembers }: Dialect) {
    this.#inner = inner;
    this.#scrubber = scrubber;
    this.#pieces = new PieceScrubber(scrubber.secrets, pieceMembers);
  }

  transform(chunk: Buffer): Buffer {
    const passed = this.#scrub(this.#inner.transform(chunk));
    const isOver = this.#inner.isWhole || this.#inner.state !== 'open';
    return isOver ? this.#withRest(passed) : passed;
  }

  end(): Buffer {
    return this.#withRest(this.#scrub(this.#inner.end()));
  }

  /** A held prefix of a secret is dropped: it may be most of one. */
  fail(error: GatewayError, requestId: string): Buffer {
    return this.#scrubber.scrub(this.#inner.fail(error, requestId));
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
    return events.length === 0 ? events : this.#pieces.pass(this.#scrubber.scrub(events));
  }

  #withRest(passed: Buffer): Buffer {
    const rest = this.#pieces.end();
    return rest.length === 0 ? passed : Buffer.concat([passed, rest]);
  }
}
