import { EventStreamCodec } from '@smithy/eventstream-codec';
import { eventLimitBytes, formatSse } from '../../dialects/sse.ts';
import { GatewayError } from '../../errors.ts';
import type { ProviderAnswer } from '../transport/pool.ts';

/** Maximum bytes of one frame: one event as Base64, so that a broken length can't fill the memory. */
const maxFrameBytes = 2 * eventLimitBytes; // base64 and its frame
/** A length, the length of the headers, two checksums. */
const minFrameBytes = 16;

/** The types of Anthropic's errors that say what Bedrock's exceptions do; any other is an `api_error`. */
const errorTypes: Readonly<Record<string, string>> = {
  throttlingException: 'rate_limit_error',
  serviceUnavailableException: 'overloaded_error',
  modelTimeoutException: 'timeout_error',
  validationException: 'invalid_request_error',
};

/** The answer with AWS' event stream decoded to the server-sent events that Anthropic's own API has. */
export function sseAnswer(answer: ProviderAnswer): ProviderAnswer {
  return {
    status: answer.status,
    headers: answer.headers.with('content-type', 'text/event-stream'),
    get isBehind() {
      return answer.isBehind;
    },
    resume: () => answer.resume(),
    flush: () => answer.flush(),
    abort: () => answer.abort(),
    pipe: (sink) => {
      const frames = new FrameReader();
      let isOver = false;
      const fail = (cause: unknown) => {
        isOver = true;
        answer.abort();
        sink.fail(
          new GatewayError('provider.broken_response', "the provider's event stream is broken", { cause }),
        );
      };
      answer.pipe({
        data: (chunk) => {
          if (isOver) return true;
          try {
            const text = frames.push(chunk).map(toSse).join('');
            return text === '' || sink.data(Buffer.from(text));
          } catch (cause) {
            fail(cause);
            return true;
          }
        },
        end: () => {
          if (isOver) return;
          if (frames.isBetween) sink.end();
          else fail(new Error('it ends within a frame'));
        },
        fail: (error) => {
          if (!isOver) sink.fail(error);
        },
      });
    },
  };
}

type Frame = ReturnType<EventStreamCodec['decode']>;

const decoder = new TextDecoder();
const encoder = new TextEncoder();
const codec = new EventStreamCodec(
  (bytes) => decoder.decode(bytes as Uint8Array),
  (text) => encoder.encode(text),
);

/**
 * Cuts a stream into frames, whose checksums are checked. Each byte is copied a few times at most, however the bytes
 * are split.
 */
class FrameReader {
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** So many bytes are needed before there is anything to do. */
  #neededBytes = minFrameBytes;

  /** Throws for a wrong length or checksum. */
  push(chunk: Buffer): readonly Frame[] {
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    const frames: Frame[] = [];
    if (this.#heldBytes < this.#neededBytes) return frames;
    let bytes = this.#held.length === 1 ? chunk : Buffer.concat(this.#held);
    for (;;) {
      this.#neededBytes = lengthOf(bytes);
      if (bytes.length < this.#neededBytes) break;
      frames.push(codec.decode(bytes.subarray(0, this.#neededBytes)));
      bytes = bytes.subarray(this.#neededBytes);
    }
    this.#held = bytes.length === 0 ? [] : [bytes];
    this.#heldBytes = bytes.length;
    return frames;
  }

  get isBetween(): boolean {
    return this.#heldBytes === 0;
  }
}

/** Of the frame that begins here, or what is needed to know it. */
function lengthOf(bytes: Buffer): number {
  if (bytes.length < minFrameBytes) return minFrameBytes;
  const length = bytes.readUInt32BE(0);
  if (length >= minFrameBytes && length <= maxFrameBytes) return length;
  throw new Error('a frame has an impossible length');
}

/** Throws for a frame that is no event of Bedrock's. */
function toSse({ headers, body }: Frame): string {
  const kind = headers[':message-type']?.value;
  if (kind === 'event') return eventToSse(headers[':event-type']?.value, body);
  const name = String(headers[kind === 'exception' ? ':exception-type' : ':error-code']?.value ?? '');
  const message = headers[':error-message']?.value ?? JSON.parse(decoder.decode(body)).message;
  const type = errorTypes[name] ?? 'api_error';
  return formatSse(
    'error',
    JSON.stringify({ type: 'error', error: { type, message: String(message ?? name) } }),
  );
}

const typeAtStart = /^\{"type":"([a-z_]+)"/;

function eventToSse(name: unknown, body: Uint8Array): string {
  if (name !== 'chunk') return ''; // kinds that are added later, as AWS' own client skips them
  const { bytes } = JSON.parse(decoder.decode(body)) as { readonly bytes: unknown };
  const data = Buffer.from(String(bytes), 'base64').toString();
  const type = typeAtStart.exec(data)?.[1] ?? String(JSON.parse(data).type);
  return formatSse(type, data);
}
