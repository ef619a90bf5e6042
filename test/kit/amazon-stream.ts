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
  const bytes = Buffer.from(JSON.stringify(event)).toString('base64');
  const headers = { ':event-type': 'chunk', ':message-type': 'event' };
  return frame(headers, JSON.stringify({ bytes, p: 'abcdefghijk' }));
}

/** A frame with one of Bedrock's exceptions. */
export function exceptionFrame(type: string, message: string): Buffer {
  return frame({ ':exception-type': type, ':message-type': 'exception' }, JSON.stringify({ message }));
}

/** The events of an answer in these pieces of text. */
export function answerEvents(texts: readonly string[]): readonly Readonly<Record<string, unknown>>[] {
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-test',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 12, output_tokens: 1 },
  };
  return [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...texts.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: 7 },
    },
    {
      type: 'message_stop',
      'amazon-bedrock-invocationMetrics': { inputTokenCount: 12, outputTokenCount: 7 },
    },
  ];
}
