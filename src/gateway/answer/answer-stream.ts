import type { Dialect } from '../../dialects/dialect.ts';
import { toFailure } from '../../dialects/failure.ts';
import { SseParser } from '../../dialects/sse.ts';
import { StreamObserver } from '../../dialects/stream-observer.ts';
import type { StreamState, StreamTranslation } from '../../dialects/translate.ts';
import type { Tally } from '../../dialects/usage.ts';
import { GatewayError } from '../../errors.ts';

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
