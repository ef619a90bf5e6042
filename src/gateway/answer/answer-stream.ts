import type { Dialect } from '../../dialects/dialect.ts';
import { toFailure } from '../../dialects/failure.ts';
import { formatSse, SseParser } from '../../dialects/sse.ts';
import { StreamObserver } from '../../dialects/stream-observer.ts';
import type { StreamState, StreamTranslation } from '../../dialects/translate.ts';
import type { Tally } from '../../dialects/usage.ts';
import { GatewayError } from '../../errors.ts';
import type { StreamCheck } from '../../policy/answers/stream-check.ts';
import type { StreamEvent } from '../../policy/answers/stream-parts.ts';

/** Transforms a provider's event stream into the client's, chunk by chunk; returns whole events only. */
export interface AnswerStream {
  /** What the client gets for a chunk; may be empty. Throws provider.broken_response. */
  transform(chunk: Buffer): Buffer;
  /** The provider's body ended: returns the rest. Throws provider.broken_response if the stream was cut. */
  end(): Buffer;
  /** Whatever is still held, then the event that ends a failed stream. */
  fail(error: GatewayError, requestId: string): Buffer;
  /** In every state but `open` the client has its last event and gets nothing more. */
  readonly state: StreamState;
  /** Whether the client has its last event, so that a connection that breaks now does no harm. */
  readonly isWhole: boolean;
  /** What the provider's events so far used. */
  readonly tally: Tally;
}

const nothing = Buffer.alloc(0);
const blankLine = Buffer.from('\n\n');

/** Passes the provider's events on byte for byte, but for the usage that the client did not ask for. */
export class ExactStream extends StreamObserver implements AnswerStream {
  readonly state = 'open';

  transform(chunk: Buffer): Buffer {
    return this.observe(chunk);
  }

  /** An event that lacks only its final blank line counts as complete. */
  end(): Buffer {
    if (this.isComplete) return this.finish();
    throw new GatewayError('provider.broken_response', 'the provider ended its stream in the middle');
  }

  /**
   * An incomplete event is dropped: clients would wait for its end and never see the error event. But the provider's own
   * error, if only its blank line is missing, says more than that the stream was cut.
   */
  fail(error: GatewayError, requestId: string): Buffer {
    if (isBareError(this.rest, this.dialect)) return Buffer.concat([this.rest, blankLine]);
    return Buffer.from(this.dialect.errorEvent(toFailure(error, requestId), this.events));
  }

  get isWhole(): boolean {
    return this.sawLast;
  }
}

/** Whether bytes are an error as it stands in the streams of a dialect that writes it without `data:`. */
function isBareError(bytes: Buffer, { hasOwnErrors, isErrorBody }: Dialect): boolean {
  if (hasOwnErrors !== true || bytes[0] !== 0x7b) return false;
  try {
    return isErrorBody(JSON.parse(bytes.toString()));
  } catch {
    return false;
  }
}

/** Translates each event of the provider into events of the client's dialect; holds at most one back. */
export class TranslatedStream implements AnswerStream {
  readonly #translation: StreamTranslation;
  readonly #parser: SseParser;
  #text = '';

  constructor(translation: StreamTranslation) {
    this.#translation = translation;
    this.#parser = new SseParser((name, data) => {
      this.#text += translation.event(name, data);
    });
  }

  transform(chunk: Buffer): Buffer {
    this.#parser.push(chunk);
    return this.#take();
  }

  end(): Buffer {
    this.#parser.end();
    this.#text += this.#translation.end();
    return this.#take();
  }

  fail(error: GatewayError, requestId: string): Buffer {
    this.#text += this.#translation.fail(error, requestId);
    return this.#take();
  }

  get state(): AnswerStream['state'] {
    return this.#translation.state;
  }

  get isWhole(): boolean {
    return this.#translation.state === 'complete' || this.#translation.state === 'cut';
  }

  get tally(): Tally {
    const { usage, unreportedTokens } = this.#translation.tally;
    return { usage, unreportedTokens: unreportedTokens + this.#parser.heldBytes };
  }

  #take(): Buffer {
    if (this.#text === '') return nothing;
    const bytes = Buffer.from(this.#text);
    this.#text = '';
    return bytes;
  }
}

/** A stage behind another one: what it doesn't say itself is as the inner stream has it. */
export abstract class Stage implements AnswerStream {
  protected readonly inner: AnswerStream;

  /** `inner` must return whole events. */
  constructor(inner: AnswerStream) {
    this.inner = inner;
  }

  abstract transform(chunk: Buffer): Buffer;
  abstract end(): Buffer;

  fail(error: GatewayError, requestId: string): Buffer {
    return this.inner.fail(error, requestId);
  }

  get state(): StreamState {
    return this.inner.state;
  }

  get isWhole(): boolean {
    return this.inner.isWhole;
  }

  get tally(): Tally {
    return this.inner.tally;
  }
}

/**
 * A stream whose events pass the rules on answers before the client gets them. The rules read events in the client's
 * dialect, translated or not, and each event is serialized again; only streams that have such rules pay for this.
 */
export class CheckedStream extends Stage {
  readonly #check: StreamCheck;
  readonly #dialect: Dialect;
  readonly #parser: SseParser;
  #events = 0;
  #isWhole = false;
  #hasFailed = false;

  constructor(inner: AnswerStream, check: StreamCheck, dialect: Dialect) {
    super(inner);
    this.#check = check;
    this.#dialect = dialect;
    this.#parser = new SseParser((name, data) => {
      check.push(name === undefined ? { data } : { name, data });
    });
  }

  transform(chunk: Buffer): Buffer {
    this.#parser.push(this.inner.transform(chunk));
    if (this.inner.state !== 'open') this.#check.end();
    return this.#passed();
  }

  end(): Buffer {
    this.#parser.push(this.inner.end());
    this.#parser.end();
    this.#check.end();
    return this.#passed();
  }

  /** What the rules release of the events before the failure; if they refused, nothing. */
  override fail(error: GatewayError, requestId: string): Buffer {
    const passed = this.#text(this.#check.take().release);
    const last = this.#hasFailed ? '' : this.#dialect.errorEvent(toFailure(error, requestId), this.#events);
    return Buffer.from(passed + last);
  }

  override get isWhole(): boolean {
    return this.#isWhole;
  }

  #passed(): Buffer {
    const { release, refusal } = this.#check.take();
    if (refusal !== undefined) {
      throw new GatewayError('policy.blocked', refusal.message, { reason: refusal.reason });
    }
    // Only once the rules have released the last event: they may still refuse in the chunk that contains it.
    this.#isWhole = this.inner.isWhole && !this.#check.isHolding;
    this.#hasFailed = this.inner.state === 'failed';
    return Buffer.from(this.#text(release));
  }

  #text(release: readonly StreamEvent[]): string {
    this.#events += release.length;
    let text = '';
    for (const { name, data } of release) text += formatSse(name, data);
    return text;
  }
}

/**
 * The events of a stream as the elements of one JSON array, for clients that did not ask for events. Of a stream that
 * failed the array has the error as its last element and is not closed.
 */
export class ArrayStream extends Stage {
  #out = '';
  #isBegun = false;
  #isClosed = false;
  readonly #parser = new SseParser((_name, data) => this.#add(data));

  transform(chunk: Buffer): Buffer {
    this.#parser.push(this.inner.transform(chunk));
    // Where the provider's last event ends the stream, its end isn't waited for.
    if (this.inner.state === 'complete' || this.inner.state === 'cut') this.#close();
    return this.#take();
  }

  end(): Buffer {
    this.#parser.push(this.inner.end());
    this.#close();
    return this.#take();
  }

  override fail(error: GatewayError, requestId: string): Buffer {
    this.#parser.push(this.inner.fail(error, requestId));
    return this.#take();
  }

  /** Never before its closing bracket. */
  override get isWhole(): boolean {
    return this.#isClosed;
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#parser.end();
    this.#out += this.#isBegun ? '\n]\n' : '[]\n';
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
