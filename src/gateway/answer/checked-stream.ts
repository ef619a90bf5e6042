import type { Dialect } from '../../dialects/dialect.ts';
import { toFailure } from '../../dialects/failure.ts';
import { formatSse, SseParser } from '../../dialects/sse.ts';
import type { Tally } from '../../dialects/usage.ts';
import { GatewayError } from '../../errors.ts';
import type { StreamCheck, StreamStep } from '../../policy/answers/stream-check.ts';
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
  #text = '';
  #events = 0;
  #isWhole = false;
  #hasFailed = false;

  constructor(inner: AnswerStream, check: StreamCheck, dialect: Dialect) {
    this.#inner = inner;
    this.#check = check;
    this.#dialect = dialect;
    this.#parser = new SseParser((name, data) => {
      this.#take(check.push({ ...(name === undefined ? {} : { name }), data }));
    });
  }

  transform(chunk: Buffer): Buffer {
    this.#parser.push(this.#inner.transform(chunk));
    if (this.#inner.state !== 'open') this.#take(this.#check.end());
    return this.#passed();
  }

  end(): Buffer {
    this.#parser.push(this.#inner.end());
    this.#parser.end();
    this.#take(this.#check.end());
    return this.#passed();
  }

  /** What the rules had released before they refused; the rest is dropped. */
  fail(error: GatewayError, requestId: string): Buffer {
    const last = this.#hasFailed ? '' : this.#dialect.errorEvent(toFailure(error, requestId), this.#events);
    const bytes = Buffer.from(this.#text + last);
    this.#text = '';
    return bytes;
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

  #take({ release, refusal }: StreamStep): void {
    for (const { name, data } of release) this.#text += formatSse(name, data);
    this.#events += release.length;
    if (refusal === undefined) return;
    throw new GatewayError('policy.blocked', refusal.message, { reason: refusal.reason });
  }

  #passed(): Buffer {
    // Only once the rules have released the last event: they may still refuse in the chunk that contains it.
    this.#isWhole = this.#inner.isWhole && !this.#check.isHolding;
    this.#hasFailed = this.#inner.state === 'failed';
    const bytes = Buffer.from(this.#text);
    this.#text = '';
    return bytes;
  }
}
