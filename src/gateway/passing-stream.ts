import type { Dialect, Usage } from '../dialects/dialect.ts';
import { createSseParser, type SseParser } from '../dialects/sse.ts';
import { StreamObserver } from '../dialects/stream-observer.ts';
import type { StreamTranslation } from '../dialects/translate/translate.ts';
import { GatewayError } from '../errors.ts';

/** What becomes of a provider's event stream on its way to the client, one chunk after the other. */
export interface PassingStream {
  /** What the client gets for a chunk; empty where it says nothing yet. Throws provider.broken_response. */
  pass(chunk: Buffer): Buffer;
  /** The provider's body ended: what is left to say. Throws provider.broken_response where it was cut. */
  end(): Buffer;
  /** The last event of a stream that fails, after whatever was not given out yet. */
  fail(error: GatewayError, requestId: string): Buffer;
  /** `complete` and `failed`: the client has its last event, and nothing that may still come is its own. */
  readonly state: 'open' | 'complete' | 'failed';
  /** Whether the client has a last event, so that what breaks now is no loss. */
  readonly isWhole: boolean;
  readonly usage: Usage | undefined;
}

const nothing = Buffer.alloc(0);

/** Takes our secrets out of a provider's words. */
type Scrub = (text: Buffer) => Buffer;

// How the events begin that tell of a failure, in every dialect.
const errorMarks = ['"error":{', '"error": {', 'event: error'].map((mark) => Buffer.from(mark));

/** The provider's chunks are the client's chunks; they are only watched, and errors are scrubbed. */
export class ExactStream implements PassingStream {
  readonly state = 'open';
  readonly #dialect: Dialect;
  readonly #scrub: Scrub;
  readonly #observer: StreamObserver;
  #tellsOfError = false;

  constructor(dialect: Dialect, scrub: Scrub) {
    this.#dialect = dialect;
    this.#scrub = scrub;
    this.#observer = new StreamObserver(dialect);
  }

  pass(chunk: Buffer): Buffer {
    this.#observer.observe(chunk);
    // One search in the usual case: the marks share a word.
    this.#tellsOfError ||= chunk.includes('error') && errorMarks.some((mark) => chunk.includes(mark));
    return this.#tellsOfError ? this.#scrub(chunk) : chunk;
  }

  end(): Buffer {
    if (this.#observer.isComplete) return nothing;
    throw new GatewayError('provider.broken_response', 'the provider ended its stream in the middle');
  }

  fail(error: GatewayError, requestId: string): Buffer {
    const { gap, events } = this.#observer;
    return Buffer.from(gap + this.#dialect.errorEvent(error, requestId, events));
  }

  get isWhole(): boolean {
    return this.#observer.sawLast;
  }

  get usage(): Usage | undefined {
    return this.#observer.usage;
  }
}

/** Each event of the provider becomes what the client's dialect says in its place; at most one is held. */
export class TranslatedStream implements PassingStream {
  readonly #translation: StreamTranslation;
  readonly #scrub: Scrub;
  readonly #parser: SseParser;
  #text = '';

  constructor(translation: StreamTranslation, scrub: Scrub) {
    this.#translation = translation;
    this.#scrub = scrub;
    this.#parser = createSseParser((name, data) => {
      this.#text += translation.event(name, data);
    });
  }

  pass(chunk: Buffer): Buffer {
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

  get state(): PassingStream['state'] {
    return this.#translation.state;
  }

  get isWhole(): boolean {
    return this.#translation.state === 'complete';
  }

  get usage(): Usage | undefined {
    return this.#translation.usage;
  }

  #take(): Buffer {
    if (this.#text === '') return nothing;
    const bytes = Buffer.from(this.#text);
    this.#text = '';
    return this.#translation.state === 'failed' ? this.#scrub(bytes) : bytes;
  }
}
