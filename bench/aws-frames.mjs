// Events in the frames in which Amazon Bedrock sends them.
import { EventStreamCodec } from '@smithy/eventstream-codec';

const codec = new EventStreamCodec(
  (bytes) => new TextDecoder().decode(bytes),
  (text) => new TextEncoder().encode(text),
);

export function toFrame(event) {
  const fields = { ':event-type': 'chunk', ':content-type': 'application/json', ':message-type': 'event' };
  const typed = Object.entries(fields).map(([name, value]) => [name, { type: 'string', value }]);
  const bytes = Buffer.from(JSON.stringify(event)).toString('base64');
  const body = new TextEncoder().encode(JSON.stringify({ bytes, p: 'abcdefghijklmnopqrstuvwxyz' }));
  return Buffer.from(codec.encode({ headers: Object.fromEntries(typed), body }));
}
