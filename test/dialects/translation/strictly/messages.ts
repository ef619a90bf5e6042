import { expect } from 'vitest';
import { type Outcome, readInput, type WireEvent } from './outcome.ts';

export function readMessages(events: readonly WireEvent[]): Outcome {
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
          expect(delta).toEqual({ type: 'signature_delta', signature: 'gw1-open' });
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
    calls: calls.map((call) => ({ name: call.name, input: readInput(call.json) })),
    finish: stop === undefined ? 'none' : stop.delta.stop_reason,
    usage: stop?.usage,
    error,
  };
}
