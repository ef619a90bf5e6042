import { expect } from 'vitest';
import type { RecordedDialect } from './run-translation.ts';

/** What a client understood of a stream. */
export interface Outcome {
  readonly thinking: string;
  readonly text: string;
  readonly refusal: string;
  readonly calls: readonly { readonly name: string; readonly input: unknown }[];
  readonly finish: string;
  readonly usage: unknown;
  readonly error: unknown;
}

interface WireEvent {
  readonly name: string | undefined;
  // Test code reads deep into what it has just received; every wrong path fails the test.
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what is being tested
  readonly data: any;
}

/** Splits text of the strictest form: optional event line, one data line, blank line. Comments are dropped. */
function parseStrictly(text: string): { events: WireEvent[]; isDone: boolean } {
  if (text === '') return { events: [], isDone: false };
  expect(text.endsWith('\n\n')).toBe(true);
  let isDone = false;
  const events = text
    .slice(0, -2)
    .split('\n\n')
    .filter((block) => !block.startsWith(':'))
    .flatMap((block) => {
      const match = /^(?:event: (?<name>[\w.]+)\n)?data: (?<data>[^\n]+)$/.exec(block);
      expect(match, block).not.toBeNull();
      expect(isDone, 'nothing may follow [DONE]').toBe(false);
      if (match?.groups?.data === '[DONE]') {
        isDone = true;
        return [];
      }
      return [{ name: match?.groups?.name, data: JSON.parse(match?.groups?.data ?? '') }];
    });
  return { events, isDone };
}

/** Reads a client's stream by every rule of its dialect and fails where one is broken. */
export function readStrictly(client: RecordedDialect, text: string): Outcome {
  const { events, isDone } = parseStrictly(text);
  switch (client) {
    case 'messages':
      expect(isDone).toBe(false);
      return readMessages(events);
    case 'chat':
      return readChat(events, isDone);
    case 'responses':
      expect(isDone).toBe(false);
      return readResponses(events);
  }
}

function readMessages(events: readonly WireEvent[]): Outcome {
  let thinking = '';
  let text = '';
  const calls: { name: string; json: string }[] = [];
  let open: string | undefined;
  let index = -1;
  let stop: WireEvent['data'];
  let isStopped = false;
  let error: unknown = null;
  events.forEach(({ name, data }, position) => {
    expect(name).toBe(data.type);
    expect(isStopped || error !== null, 'nothing after the last event').toBe(false);
    if (data.type !== 'error') expect(data.type === 'message_start').toBe(position === 0);
    switch (data.type) {
      case 'message_start':
        expect(data.message).toMatchObject({
          type: 'message',
          role: 'assistant',
          content: [],
          stop_reason: null,
        });
        expect(data.message.model).toBe('asked-for');
        expect(data.message.usage).toMatchObject({ input_tokens: expect.any(Number), output_tokens: 0 });
        return;
      case 'content_block_start':
        expect(open, 'one block at a time').toBeUndefined();
        index += 1;
        expect(data.index).toBe(index);
        open = data.content_block.type;
        if (open === 'text') expect(data.content_block).toEqual({ type: 'text', text: '' });
        if (open === 'tool_use') {
          expect(data.content_block.input).toEqual({});
          expect(data.content_block.id).toMatch(/^[a-zA-Z0-9_-]+$/);
          calls.push({ name: data.content_block.name, json: '' });
        }
        return;
      case 'content_block_delta': {
        expect(data.index).toBe(index);
        const { delta } = data;
        if (delta.type === 'text_delta') {
          expect(open).toBe('text');
          text += delta.text;
        } else if (delta.type === 'thinking_delta') {
          expect(open).toBe('thinking');
          thinking += delta.thinking;
        } else if (delta.type === 'input_json_delta') {
          expect(open).toBe('tool_use');
          const call = calls.at(-1);
          if (call !== undefined) call.json += delta.partial_json;
        } else {
          expect(delta).toEqual({ type: 'signature_delta', signature: '' });
          expect(open).toBe('thinking');
        }
        return;
      }
      case 'content_block_stop':
        expect(data.index).toBe(index);
        expect(open).toBeDefined();
        open = undefined;
        return;
      case 'message_delta':
        expect(open).toBeUndefined();
        stop = data;
        expect(data.usage.output_tokens).toEqual(expect.any(Number));
        return;
      case 'message_stop':
        expect(stop).toBeDefined();
        isStopped = true;
        return;
      case 'error':
        error = data.error;
        expect(error).toMatchObject({ type: expect.any(String), message: expect.any(String) });
        return;
      default:
        expect(data.type).toBe('ping');
    }
  });
  if (stop !== undefined) expect(isStopped).toBe(true);
  return {
    thinking,
    text,
    refusal: '',
    calls: calls.map((call) => ({ name: call.name, input: JSON.parse(call.json || '{}') })),
    finish: stop === undefined ? 'none' : stop.delta.stop_reason,
    usage: stop?.usage,
    error,
  };
}

function readChat(events: readonly WireEvent[], isDone: boolean): Outcome {
  const message = { text: '', thinking: '', refusal: '' };
  const calls: { name: string; json: string }[] = [];
  let finish = 'none';
  let usage: unknown;
  let error: unknown = null;
  events.forEach(({ name, data }, position) => {
    expect(name).toBeUndefined();
    expect(error, 'nothing after an error').toBeNull();
    if (data.error !== undefined) {
      error = data.error;
      return;
    }
    expect(data).toMatchObject({
      object: 'chat.completion.chunk',
      created: 1_763_000_000,
      model: 'asked-for',
    });
    expect(data.id).toBe(events[0]?.data.id);
    expect(Array.isArray(data.choices)).toBe(true);
    if (data.choices.length === 0) {
      expect(finish).not.toBe('none');
      usage = data.usage;
      return;
    }
    expect(finish, 'no delta after the finish').toBe('none');
    const [choice] = data.choices;
    expect(choice.index).toBe(0);
    expect(choice.delta.role === 'assistant').toBe(position === 0);
    message.text += choice.delta.content ?? '';
    message.thinking += choice.delta.reasoning_content ?? '';
    message.refusal += choice.delta.refusal ?? '';
    for (const call of choice.delta.tool_calls ?? []) {
      if (call.id !== undefined) {
        expect(call.index, 'indexes run from 0 without gaps').toBe(calls.length);
        calls.push({ name: call.function.name, json: '' });
      }
      const known = calls[call.index];
      expect(known).toBeDefined();
      if (known !== undefined) known.json += call.function.arguments;
    }
    if (choice.finish_reason !== null) finish = choice.finish_reason;
  });
  expect(isDone).toBe(finish !== 'none' && error === null);
  return {
    ...message,
    calls: calls.map((call) => ({ name: call.name, input: JSON.parse(call.json || '{}') })),
    finish,
    usage,
    error,
  };
}

function readResponses(events: readonly WireEvent[]): Outcome {
  const items: WireEvent['data'][] = [];
  const done = new Set<number>();
  let final: WireEvent['data'];
  let error: unknown = null;
  events.forEach(({ name, data }, position) => {
    expect(name).toBe(data.type);
    expect(data.sequence_number).toBe(position);
    if (data.type === 'error') {
      expect(final.status).toBe('failed');
      error = data.error;
      return;
    }
    expect(final, 'nothing after the last event').toBeUndefined();
    if (position === 0) expect(data.type).toBe('response.created');
    if (position === 1) expect(data.type).toBe('response.in_progress');
    if (data.response !== undefined) {
      expect(data.response.id).toBe(events[0]?.data.response.id);
      expect(data.response.model).toBe('asked-for');
    }
    const item = items[data.output_index];
    if (data.item_id !== undefined) {
      expect(item.id).toBe(data.item_id);
      expect(done.has(data.output_index)).toBe(false);
    }
    switch (data.type) {
      case 'response.output_item.added':
        expect(data.output_index).toBe(items.length);
        items.push({ ...structuredClone(data.item), parts: [], sum: '' });
        return;
      case 'response.content_part.added':
      case 'response.reasoning_summary_part.added':
        expect(data.content_index ?? data.summary_index).toBe(item.parts.length);
        item.parts.push(data.part);
        return;
      case 'response.output_text.delta':
        expect(data.logprobs).toEqual([]);
        expect(item.parts[data.content_index].type).toBe('output_text');
        item.sum += data.delta;
        return;
      case 'response.refusal.delta':
        expect(item.parts[data.content_index].type).toBe('refusal');
        item.sum += data.delta;
        return;
      case 'response.reasoning_summary_text.delta':
        expect(item.parts[data.summary_index].type).toBe('summary_text');
        item.sum += data.delta;
        return;
      case 'response.function_call_arguments.delta':
        expect(item.type).toBe('function_call');
        item.sum += data.delta;
        return;
      case 'response.custom_tool_call_input.delta':
        expect(item.type).toBe('custom_tool_call');
        item.sum += data.delta;
        return;
      case 'response.output_text.done':
      case 'response.reasoning_summary_text.done':
        expect(data.text).toBe(item.sum);
        return;
      case 'response.refusal.done':
        expect(data.refusal).toBe(item.sum);
        return;
      case 'response.function_call_arguments.done':
        expect(data.arguments).toBe(item.sum || '{}');
        return;
      case 'response.custom_tool_call_input.done':
        expect(data.input).toBe(item.sum);
        return;
      case 'response.content_part.done':
      case 'response.reasoning_summary_part.done':
        expect(data.part.text ?? data.part.refusal).toBe(item.sum);
        return;
      case 'response.output_item.done':
        expect(data.item.id).toBe(item.id);
        expect(data.item.call_id).toBe(item.call_id);
        done.add(data.output_index);
        items[data.output_index] = data.item;
        return;
      case 'response.created':
      case 'response.in_progress':
        expect(data.response).toMatchObject({ status: 'in_progress', output: [], error: null });
        return;
      default:
        expect(data.type).toBe(`response.${data.response.status}`);
        final = data.response;
    }
  });
  if (final !== undefined && final.status !== 'failed') {
    expect(done.size).toBe(items.length);
    expect(final.output).toEqual(items);
  }
  return { ...readOutput(items), finish: toFinish(final), usage: final?.usage, error };
}

function toFinish(final: WireEvent['data']): string {
  if (final === undefined) return 'none';
  if (final.status === 'failed') return 'none';
  return final.incomplete_details === null ? final.status : `incomplete: ${final.incomplete_details.reason}`;
}

function readOutput(items: readonly WireEvent['data'][]): Omit<Outcome, 'finish' | 'usage' | 'error'> {
  const content = items.flatMap((item) => (item.type === 'message' ? item.content : []));
  const unfinished = items.flatMap((item) =>
    item.type === 'message' && item.sum !== undefined ? item.sum : [],
  );
  return {
    thinking: items
      .flatMap((item) => (item.type === 'reasoning' ? item.summary : []))
      .map((part) => part.text)
      .join(''),
    text: content.map((part) => part.text ?? '').join('') + unfinished.join(''),
    refusal: content.map((part) => part.refusal ?? '').join(''),
    calls: items
      .filter((item) => item.call_id !== undefined)
      .map((item) => ({
        name: item.name,
        input: item.type === 'function_call' ? JSON.parse(item.arguments) : item.input,
      })),
  };
}
