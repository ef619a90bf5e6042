import type { StreamReader, StreamSink } from '../conversation.ts';
import { parseFailure } from '../failure.ts';
import { brokenAnswer, type Fields, parseEventData, toFields, toText } from '../fields.ts';
import type { Usage } from '../usage.ts';
import { parseStopReason } from './finish.ts';
import { parseMessagesUsage } from './usage.ts';

/** Reads a provider's Messages stream. The payload's `type` counts; the event's name only repeats it. */
export function createMessagesReader(sink: StreamSink): StreamReader {
  let isStarted = false;
  let calls = 0;
  let isCallOpen = false;
  let usage: Usage | undefined;
  let stop: Fields = {};

  function start(): void {
    if (isStarted) return;
    isStarted = true;
    sink.start();
  }

  function text(piece: unknown): void {
    if (typeof piece === 'string' && piece !== '') sink.text(piece);
  }

  function thinking(piece: unknown): void {
    if (typeof piece === 'string' && piece !== '') sink.thinking(piece);
  }

  function blockStart(block: Fields): void {
    const { type } = block;
    if (type === 'text') text(block.text);
    if (type === 'thinking') thinking(block.thinking);
    if (type !== 'tool_use') return;
    isCallOpen = true;
    sink.callStart({ index: calls, id: toText(block.id), name: toText(block.name), kind: 'function' });
    // Anthropic sends `{}` here and the input as deltas; some hosts send all of it in one piece.
    const input = JSON.stringify(toFields(block.input));
    if (input !== '{}') sink.callInput(calls, input);
  }

  function blockDelta(delta: Fields): void {
    switch (delta.type) {
      case 'text_delta':
        text(delta.text);
        return;
      case 'thinking_delta':
        thinking(delta.thinking);
        return;
      case 'input_json_delta':
        // Server tools stream their input too; it belongs to no call of the client's.
        if (isCallOpen) sink.callInput(calls, toText(delta.partial_json));
    }
  }

  function blockStop(): void {
    if (!isCallOpen) return;
    isCallOpen = false;
    sink.callEnd(calls);
    calls += 1;
  }

  function messageDelta(event: Fields): void {
    stop = toFields(event.delta);
    noteUsage(event.usage);
  }

  function noteUsage(value: unknown): void {
    usage = parseMessagesUsage(value, usage);
    if (usage !== undefined) sink.usage(usage);
  }

  return {
    event(_name, data) {
      if (data === '') return;
      const event = parseEventData(data);
      if (event.type === 'error') {
        sink.fail(parseFailure(event));
        return;
      }
      start();
      switch (event.type) {
        case 'message_start':
          noteUsage(toFields(event.message).usage);
          return;
        case 'content_block_start':
          blockStart(toFields(event.content_block));
          return;
        case 'content_block_delta':
          blockDelta(toFields(event.delta));
          return;
        case 'content_block_stop':
          blockStop();
          return;
        case 'message_delta':
          messageDelta(event);
          return;
        case 'message_stop':
          sink.complete(parseStopReason(stop.stop_reason), toText(stop.stop_sequence) || undefined);
          return;
        case 'ping':
          sink.ping();
      }
    },
    end() {
      throw brokenAnswer('ended before its last event');
    },
  };
}
