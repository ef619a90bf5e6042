import { EventStreamCodec } from '@smithy/eventstream-codec';

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
  return frameOf(JSON.stringify(event));
}

/** Server-sent events of Claude's in Bedrock's frames. */
export function framesOf(events: string): Buffer {
  // Only these end a line of an event stream; JSON may have other characters that do elsewhere.
  const lines = events.split(/\r?\n/).filter((line) => line.startsWith('data:'));
  return Buffer.concat(lines.map((line) => frameOf(line.slice('data:'.length).trimStart())));
}

function frameOf(data: string): Buffer {
  const bytes = Buffer.from(data).toString('base64');
  const headers = { ':event-type': 'chunk', ':message-type': 'event' };
  return frame(headers, JSON.stringify({ bytes, p: 'abcdefghijk' }));
}

/** A frame with one of Bedrock's exceptions. */
export function exceptionFrame(type: string, message: string): Buffer {
  return frame({ ':exception-type': type, ':message-type': 'exception' }, JSON.stringify({ message }));
}
