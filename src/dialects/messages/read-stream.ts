import type { StreamReader, StreamSink } from '../conversation.ts';
import { parseFailure } from '../failure.ts';
import { brokenAnswer, type Fields, parseEventData, toFields, toText } from '../fields.ts';
import type { Usage } from '../usage.ts';
import { parseStopReason } from './finish.ts';
import { createMessagesBlocks } from './read-blocks.ts';
import { parseMessagesEventUsage } from './usage.ts';

/** Reads a provider's Messages stream. The payload's `type` counts; the event's name only repeats it. */
export function createMessagesReader(sink: StreamSink): StreamReader {
  const blocks = createMessagesBlocks(sink);
  let isStarted = false;
  let usage: Usage | undefined;
  let stop: Fields = {};

  function start(): void {
    if (isStarted) return;
    isStarted = true;
    sink.start();
  }

  function readUsage(event: Fields): void {
    usage = parseMessagesEventUsage(event, usage);
    if (usage !== undefined) sink.usage(usage);
  }

  function read(event: Fields): void {
    switch (event.type) {
      case 'message_start':
        readUsage(event);
        return;
      case 'content_block_start':
        blocks.start(toFields(event.content_block));
        return;
      case 'content_block_delta':
        blocks.delta(toFields(event.delta));
        return;
      case 'content_block_stop':
        blocks.stop();
        return;
      case 'message_delta':
        stop = toFields(event.delta);
        readUsage(event);
        return;
      case 'message_stop':
        sink.complete(parseStopReason(stop.stop_reason), toText(stop.stop_sequence) || undefined);
        return;
      case 'ping':
        sink.ping();
    }
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
      read(event);
    },
    end() {
      throw brokenAnswer('ended before its last event');
    },
  };
}
