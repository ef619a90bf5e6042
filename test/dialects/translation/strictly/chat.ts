import { expect } from 'vitest';
import { type Outcome, readInput, type WireEvent } from './outcome.ts';

export function readChat(events: readonly WireEvent[], isDone: boolean): Outcome {
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
    calls: calls.map((call) => ({ name: call.name, input: readInput(call.json) })),
    finish,
    usage,
    error,
  };
}
