import type { Dialect, Usage } from '../dialects/dialect.ts';
import { createSseParser } from '../dialects/sse.ts';
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
export function exactStream(dialect: Dialect, scrub: Scrub): PassingStream {
  const observer = new StreamObserver(dialect);
  let tellsOfError = false;
  return {
    pass(chunk) {
      observer.observe(chunk);
      tellsOfError ||= errorMarks.some((mark) => chunk.includes(mark));
      return tellsOfError ? scrub(chunk) : chunk;
    },
    end() {
      if (observer.isComplete) return nothing;
      throw new GatewayError('provider.broken_response', 'the provider ended its stream in the middle');
    },
    fail: (error, requestId) =>
      Buffer.from(observer.gap + dialect.errorEvent(error, requestId, observer.events)),
    state: 'open',
    get isWhole() {
      return observer.sawLast;
    },
    get usage() {
      return observer.usage;
    },
  };
}

/** Each event of the provider becomes what the client's dialect says in its place; at most one is held. */
export function translatedStream(translation: StreamTranslation, scrub: Scrub): PassingStream {
  let text = '';
  const parser = createSseParser((name, data) => {
    text += translation.event(name, data);
  });
  const take = (): Buffer => {
    if (text === '') return nothing;
    const bytes = Buffer.from(text);
    text = '';
    return translation.state === 'failed' ? scrub(bytes) : bytes;
  };
  return {
    pass(chunk) {
      parser.push(chunk);
      return take();
    },
    end() {
      parser.end();
      text += translation.end();
      return take();
    },
    fail(error, requestId) {
      text += translation.fail(error, requestId);
      return take();
    },
    get state() {
      return translation.state;
    },
    get isWhole() {
      return translation.state === 'complete';
    },
    get usage() {
      return translation.usage;
    },
  };
}
