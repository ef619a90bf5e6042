import type { Dialect } from '../../dialects/dialect.ts';
import { toFailure } from '../../dialects/failure.ts';
import { createSseParser, type SseParser } from '../../dialects/sse.ts';
import { StreamObserver } from '../../dialects/stream-observer.ts';
import type { StreamState, StreamTranslation } from '../../dialects/translate.ts';
import type { Usage } from '../../dialects/usage.ts';
import { GatewayError } from '../../errors.ts';

/** What becomes of a provider's event stream on its way to the client, one chunk after the other. */
export interface PassingStream {
  /** What the client gets for a chunk; may be empty. Throws provider.broken_response. */
  pass(chunk: Buffer): Buffer;
  /** The provider's body ended: the rest. Throws provider.broken_response where it was cut. */
  end(): Buffer;
  /** The last event of a stream that fails, after whatever has not been passed yet. */
  fail(error: GatewayError, requestId: string): Buffer;
  /** In every state but open the client has its last event, and nothing that may still come is its own. */
  readonly state: StreamState;
  /** Whether the client has a last event, so that what breaks now is no loss. */
  readonly isWhole: boolean;
  readonly usage: Usage | undefined;
}

const nothing = Buffer.alloc(0);

/** The provider's events are the client's, byte for byte; they are only watched. */
export class ExactStream implements PassingStream {
  readonly state = 'open';
  readonly #dialect: Dialect;
  readonly #observer: StreamObserver;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
    this.#observer = new StreamObserver(dialect);
  }

  pass(chunk: Buffer): Buffer {
    return this.#observer.observe(chunk);
  }

  /** An event that lacks only its blank line is whole all the same. */
  end(): Buffer {
    if (this.#observer.isComplete) return this.#observer.rest;
    throw new GatewayError('provider.broken_response', 'the provider ended its stream in the middle');
  }

  /** Half an event is lost with the rest of the stream: clients stop at it and never read the error. */
  fail(error: GatewayError, requestId: string): Buffer {
    return Buffer.from(this.#dialect.errorEvent(toFailure(error, requestId), this.#observer.events));
  }

  get isWhole(): boolean {
    return this.#observer.sawLast;
  }

  get usage(): Usage | undefined {
    return this.#observer.usage;
  }
}

/** Each event of the provider becomes events of the client's dialect; at most one is held. */
export class TranslatedStream implements PassingStream {
  readonly #translation: StreamTranslation;
  readonly #parser: SseParser;
  #text = '';

  constructor(translation: StreamTranslation) {
    this.#translation = translation;
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
    return this.#translation.state === 'complete' || this.#translation.state === 'cut';
  }

  get usage(): Usage | undefined {
    return this.#translation.usage;
  }

  #take(): Buffer {
    if (this.#text === '') return nothing;
    const bytes = Buffer.from(this.#text);
    this.#text = '';
    return bytes;
  }
}
