import type { StreamReader, StreamSink } from '../conversation.ts';
import { parseFailure } from '../failure.ts';
import { brokenAnswer, type Fields, isFields, parseEventData, toFields, toList, toText } from '../fields.ts';
import { parseResponsesFinish } from './finish.ts';
import { createResponsesItems } from './read-items.ts';
import { parseResponsesUsage } from './usage.ts';

/**
 * Reads a provider's Responses stream. What the deltas leave out is taken from the `done` events and the final output.
 */
export function createResponsesReader(sink: StreamSink): StreamReader {
  const items = createResponsesItems(sink);
  let isStarted = false;

  function start(): void {
    if (isStarted) return;
    isStarted = true;
    sink.start();
  }

  function complete(response: Fields): void {
    for (const [index, item] of toList(response.output).entries()) items.done(index, toFields(item));
    const usage = parseResponsesUsage(response.usage);
    if (usage !== undefined) sink.usage(usage);
    sink.complete(parseResponsesFinish(response, items.callCount() > 0));
  }

  function read(event: Fields): void {
    const index = typeof event.output_index === 'number' ? event.output_index : 0;
    switch (event.type) {
      case 'response.output_text.delta':
        items.textDelta(index, event, 'text');
        return;
      case 'response.refusal.delta':
        items.textDelta(index, event, 'refusal');
        return;
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        items.thinkingDelta(index, event);
        return;
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        items.inputDelta(index, toText(event.delta));
        return;
      case 'response.output_text.done':
        items.textDone(index, event);
        return;
      case 'response.function_call_arguments.done':
        items.inputDone(index, toText(event.arguments));
        return;
      case 'response.custom_tool_call_input.done':
        items.inputDone(index, toText(event.input));
        return;
      case 'response.output_item.added':
        items.added(index, toFields(event.item));
        return;
      case 'response.output_item.done':
        items.done(index, toFields(event.item));
        return;
      case 'response.completed':
      case 'response.incomplete':
        complete(toFields(event.response));
        return;
      case 'keepalive':
        sink.ping();
    }
  }

  return {
    event(_name, data) {
      if (data === '' || data.startsWith('[DONE]')) return;
      const event = parseEventData(data);
      if (event.type === 'error' || isFields(event.error)) {
        sink.fail(parseFailure(event));
        return;
      }
      if (event.type === 'response.failed') {
        sink.fail(parseFailure(toFields(event.response)));
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
