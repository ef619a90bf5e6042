import { expect } from 'vitest';
import { type Outcome, readInput, type WireEvent } from './outcome.ts';

/** Of events with a piece of text, in what it may stand; of those with all of it, the member that has it. */
const texts: Readonly<Record<string, { ofPart?: string; ofItem?: string; whole?: string }>> = {
  'response.output_text.delta': { ofPart: 'output_text' },
  'response.output_text.done': { whole: 'text' },
  'response.refusal.delta': { ofPart: 'refusal' },
  'response.refusal.done': { whole: 'refusal' },
  'response.reasoning_summary_text.delta': { ofPart: 'summary_text' },
  'response.reasoning_summary_text.done': { whole: 'text' },
  'response.function_call_arguments.delta': { ofItem: 'function_call' },
  'response.function_call_arguments.done': { whole: 'arguments' },
  'response.custom_tool_call_input.delta': { ofItem: 'custom_tool_call' },
  'response.custom_tool_call_input.done': { whole: 'input' },
};

export function readResponses(events: readonly WireEvent[]): Outcome {
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
    const { ofPart, ofItem, whole } = texts[data.type] ?? {};
    if (ofPart !== undefined) expect(item.parts[data.content_index ?? data.summary_index].type).toBe(ofPart);
    if (ofItem !== undefined) expect(item.type).toBe(ofItem);
    if (whole !== undefined) {
      const empty = whole === 'arguments' ? '{}' : '';
      expect((data.part ?? data)[whole]).toBe(item.sum || empty);
      return;
    }
    if (ofPart !== undefined || ofItem !== undefined) {
      item.sum += data.delta;
      return;
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
      case 'keepalive':
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
        input: item.type === 'function_call' ? readInput(item.arguments) : item.input,
      })),
  };
}
