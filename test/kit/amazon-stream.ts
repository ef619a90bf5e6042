import { EventStreamCodec } from '@smithy/eventstream-codec';
import { eventsOf } from '../gateway/masking/saying.ts';

const codec = new EventStreamCodec(
  (bytes) => new TextDecoder().decode(bytes as Uint8Array),
  (text) => new TextEncoder().encode(text),
);

function frame(headers: Readonly<Record<string, string>>, body: string): Buffer {
  const typed = Object.entries({ ':content-type': 'application/json', ...headers }).map(
    ([name, value]) => [name, { type: 'string', value }] as const,
  );
  return Buffer.from(
    codec.encode({ headers: Object.fromEntries(typed), body: new TextEncoder().encode(body) }),
  );
}

/** A frame with one event of Claude's, as Bedrock sends it. */
export function chunkFrame(event: unknown): Buffer {
  const bytes = Buffer.from(JSON.stringify(event)).toString('base64');
  const headers = { ':event-type': 'chunk', ':message-type': 'event' };
  return frame(headers, JSON.stringify({ bytes, p: 'abcdefghijk' }));
}

/** A frame with one of Bedrock's exceptions. */
export function exceptionFrame(type: string, message: string): Buffer {
  return frame({ ':exception-type': type, ':message-type': 'exception' }, JSON.stringify({ message }));
}

/** The events of an answer in these pieces of text, the last one with what Bedrock adds to it. */
export function answerEvents(texts: readonly string[]): readonly Readonly<Record<string, unknown>>[] {
  const events = eventsOf('messages', { text: texts.join('') }, () => texts).map((event) =>
    JSON.parse(event.slice(event.indexOf('data: ') + 'data: '.length)),
  );
  const metrics = { inputTokenCount: 3, outputTokenCount: 4 };
  return [...events.slice(0, -1), { ...events.at(-1), 'amazon-bedrock-invocationMetrics': metrics }];
}
