import type { Dialect } from '../../dialects/dialect.ts';
import { toFailure } from '../../dialects/failure.ts';
import { createSseParser, type SseParser } from '../../dialects/sse.ts';
import { StreamObserver } from '../../dialects/stream-observer.ts';
import type { StreamTranslation } from '../../dialects/translate.ts';
import type { Usage } from '../../dialects/usage.ts';
import { GatewayError } from '../../errors.ts';
import type { Scrubber } from './scrub.ts';

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

// How the events begin that tell of a failure, in every dialect.
const errorMarks = ['"error":{', '"error":"', '"type":"error"', 'event:error']
  .flatMap((mark) => [mark, mark.replace(':', ': ')])
  .map((mark) => Buffer.from(mark));
/** Bytes of a mark that may stand in the chunk before. */
const jointBytes = Math.max(...errorMarks.map((mark) => mark.length)) - 1;
const lineFeed = 0x0a;

/**
 * The provider's chunks are the client's chunks; they are only watched. From the first sign of an error they
 * are scrubbed, and what may be the beginning of a secret waits for the chunk that tells.
 */
export class ExactStream implements PassingStream {
  readonly state = 'open';
  readonly #dialect: Dialect;
  readonly #scrubber: Scrubber;
  readonly #observer: StreamObserver;
  #tellsOfError = false;
  /** The last bytes of a line that goes on in the next chunk. */
  #joint: Buffer = nothing;
  #held: Buffer = nothing;

  constructor(dialect: Dialect, scrubber: Scrubber) {
    this.#dialect = dialect;
    this.#scrubber = scrubber;
    this.#observer = new StreamObserver(dialect);
  }

  pass(chunk: Buffer): Buffer {
    this.#observer.observe(chunk);
    this.#tellsOfError ||= isMarked(chunk) || this.#isMarkedAtJoint(chunk);
    return this.#tellsOfError ? this.#scrubbed(chunk) : chunk;
  }

  end(): Buffer {
    if (this.#observer.isComplete) return this.#scrubber.scrub(this.#held);
    throw new GatewayError('provider.broken_response', 'the provider ended its stream in the middle');
  }

  /** What was held is lost with the rest of the stream: it may be most of a secret. */
  fail(error: GatewayError, requestId: string): Buffer {
    const { gap, events } = this.#observer;
    const ownLine = this.#held.length === 0 ? gap : '\n\n';
    return Buffer.from(ownLine + this.#dialect.errorEvent(toFailure(error, requestId), events));
  }

  get isWhole(): boolean {
    return this.#observer.sawLast;
  }

  get usage(): Usage | undefined {
    return this.#observer.usage;
  }

  /** Marks are within a line, and most chunks end with one: only the others leave something to look at. */
  #isMarkedAtJoint(chunk: Buffer): boolean {
    const isOver = chunk[chunk.length - 1] === lineFeed;
    if (isOver && this.#joint.length === 0) return false;
    const isMarkedThere = isMarked(Buffer.concat([this.#joint, chunk.subarray(0, jointBytes)]));
    const last = isOver ? [] : [this.#joint, chunk.subarray(-jointBytes)];
    this.#joint = Buffer.concat(last).subarray(-jointBytes);
    return isMarkedThere;
  }

  #scrubbed(chunk: Buffer): Buffer {
    const text = Buffer.concat([this.#held, chunk]);
    const length = this.#scrubber.certainLength(text);
    this.#held = text.subarray(length);
    return this.#scrubber.scrub(text.subarray(0, length));
  }
}

function isMarked(text: Buffer): boolean {
  // One search in the usual case: the marks share a word.
  return text.includes('error') && errorMarks.some((mark) => text.includes(mark));
}

/** Each event of the provider becomes what the client's dialect says in its place; at most one is held. */
export class TranslatedStream implements PassingStream {
  readonly #translation: StreamTranslation;
  readonly #scrubber: Scrubber;
  readonly #parser: SseParser;
  #text = '';

  constructor(translation: StreamTranslation, scrubber: Scrubber) {
    this.#translation = translation;
    this.#scrubber = scrubber;
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
    return this.#translation.state === 'failed' ? this.#scrubber.scrub(bytes) : bytes;
  }
}
