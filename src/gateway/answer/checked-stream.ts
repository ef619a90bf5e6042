import type { Dialect } from '../../dialects/dialect.ts';
import { toFailure } from '../../dialects/failure.ts';
import { formatSse, SseParser } from '../../dialects/sse.ts';
import type { Tally } from '../../dialects/usage.ts';
import { GatewayError } from '../../errors.ts';
import type { StreamCheck } from '../../policy/answers/stream-check.ts';
import type { StreamEvent } from '../../policy/answers/stream-parts.ts';
import type { AnswerStream } from './answer-stream.ts';

/**
 * A stream whose events pass the rules on answers before the client gets them. The rules read events in the client's
 * dialect, translated or not, and each event is serialized again; only streams that have such rules pay for this.
 */
export class CheckedStream implements AnswerStream {
  readonly #inner: AnswerStream;
  readonly #check: StreamCheck;
  readonly #dialect: Dialect;
  readonly #parser: SseParser;
  #events = 0;
  #isWhole = false;
  #hasFailed = false;

  constructor(inner: AnswerStream, check: StreamCheck, dialect: Dialect) {
    this.#inner = inner;
    this.#check = check;
    this.#dialect = dialect;
    this.#parser = new SseParser((name, data) => {
      check.push(name === undefined ? { data } : { name, data });
    });
  }

  transform(chunk: Buffer): Buffer {
    this.#parser.push(this.#inner.transform(chunk));
    if (this.#inner.state !== 'open') this.#check.end();
    return this.#passed();
  }

  end(): Buffer {
    this.#parser.push(this.#inner.end());
    this.#parser.end();
    this.#check.end();
    return this.#passed();
  }

  /** What the rules release of the events before the failure; if they refused, nothing. */
  fail(error: GatewayError, requestId: string): Buffer {
    const passed = this.#text(this.#check.take().release);
    const last = this.#hasFailed ? '' : this.#dialect.errorEvent(toFailure(error, requestId), this.#events);
    return Buffer.from(passed + last);
  }

  get state(): AnswerStream['state'] {
    return this.#inner.state;
  }

  get isWhole(): boolean {
    return this.#isWhole;
  }

  get tally(): Tally {
    return this.#inner.tally;
  }

  #passed(): Buffer {
    const { release, refusal } = this.#check.take();
    if (refusal !== undefined) {
      throw new GatewayError('policy.blocked', refusal.message, { reason: refusal.reason });
    }
    // Only once the rules have released the last event: they may still refuse in the chunk that contains it.
    this.#isWhole = this.#inner.isWhole && !this.#check.isHolding;
    this.#hasFailed = this.#inner.state === 'failed';
    return Buffer.from(this.#text(release));
  }

  #text(release: readonly StreamEvent[]): string {
    this.#events += release.length;
    let text = '';
    for (const { name, data } of release) text += formatSse(name, data);
    return text;
  }
}
