import type { StreamReader, StreamSink } from '../conversation.ts';
import { errorInside, parseFailure } from '../failure.ts';
import { brokenAnswer, type Fields, parseEventData, toFields, toList, toText } from '../fields.ts';
import { parseOutputCall, parseOutputItem, parseResponsesFinish } from './answer.ts';
import { parseResponsesUsage } from './usage.ts';

/**
 * Reads a provider's Responses stream. What the deltas leave out is taken from the `done` events and the final output.
 */
export function createResponsesReader(sink: StreamSink): StreamReader {
  const items = createResponsesItems(sink);

  function complete(response: Fields): void {
    for (const [index, item] of toList(response.output).entries()) items.done(index, toFields(item));
    const usage = parseResponsesUsage(response);
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
      if (errorInside(event) !== undefined) {
        sink.fail(parseFailure(event));
        return;
      }
      if (event.type === 'response.failed') {
        sink.fail(parseFailure(toFields(event.response)));
        return;
      }
      sink.start();
      read(event);
    },
    end() {
      throw brokenAnswer('ended before its last event');
    },
  };
}

interface Item {
  /** The call's index among the calls; absent for other items. */
  call?: number;
  hasInput: boolean;
  isDone: boolean;
  /** The content parts that deltas have brought, in the order they began. */
  readonly parts: Set<unknown>;
  thinkingKind?: unknown;
}

/** The output items of a Responses stream, by their index; everything is forwarded once, whichever event brings it. */
function createResponsesItems(sink: StreamSink) {
  const items: Item[] = [];
  let calls = 0;

  function at(index: number): Item {
    const known = items[index];
    if (known !== undefined) return known;
    const item: Item = { hasInput: false, isDone: false, parts: new Set() };
    items[index] = item;
    return item;
  }

  function startCall(item: Item, fields: Fields): void {
    if (item.call !== undefined) return;
    item.call = calls;
    calls += 1;
    const { id, name, kind } = parseOutputCall(fields);
    sink.callStart({ index: item.call, id, name, kind });
  }

  function inputDelta(index: number, piece: string): void {
    const item = at(index);
    if (item.call === undefined || piece === '') return;
    item.hasInput = true;
    sink.callInput(item.call, piece);
  }

  function inputDone(index: number, whole: string): void {
    if (!at(index).hasInput) inputDelta(index, whole);
  }

  function finishCall(index: number, item: Item, fields: Fields): void {
    startCall(item, fields);
    inputDone(index, parseOutputCall(fields).input);
    if (item.call !== undefined) sink.callEnd(item.call);
  }

  function finishText(item: Item, fields: Fields): void {
    for (const part of parseOutputItem(fields)) {
      if (part.kind === 'call') continue;
      if (item.parts.size === 0 && part.text !== '') sink[part.kind](part.text);
      if (part.kind === 'thinking' && part.seal !== undefined) sink.seal(part.seal);
    }
  }

  return {
    added(index: number, fields: Fields): void {
      if (isCall(fields)) startCall(at(index), fields);
    },
    textDelta(index: number, event: Fields, kind: 'text' | 'refusal'): void {
      at(index).parts.add(event.content_index);
      const delta = toText(event.delta);
      if (delta !== '') sink[kind](delta);
    },
    textDone(index: number, event: Fields): void {
      const { parts } = at(index);
      if (parts.has(event.content_index)) return;
      parts.add(event.content_index);
      const text = toText(event.text);
      if (text !== '') sink.text(text);
    },
    thinkingDelta(index: number, event: Fields): void {
      const item = at(index);
      // Some hosts send the same thought as text and as summary; the first kind counts.
      item.thinkingKind ??= event.type;
      const delta = toText(event.delta);
      if (item.thinkingKind !== event.type || delta === '') return;
      const part = event.summary_index ?? event.content_index;
      if (item.parts.size > 0 && !item.parts.has(part)) sink.thinking('\n\n');
      item.parts.add(part);
      sink.thinking(delta);
    },
    inputDelta,
    inputDone,
    done(index: number, fields: Fields): void {
      const item = at(index);
      if (item.isDone) return;
      item.isDone = true;
      if (isCall(fields)) finishCall(index, item, fields);
      else finishText(item, fields);
    },
    callCount: () => calls,
  };
}

function isCall(fields: Fields): boolean {
  return fields.type === 'function_call' || fields.type === 'custom_tool_call';
}
