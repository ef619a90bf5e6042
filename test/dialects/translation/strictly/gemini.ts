import { expect } from 'vitest';
import type { Outcome, WireEvent } from './outcome.ts';

export function readGemini(events: readonly WireEvent[]): Outcome {
  const calls: { name: string; input: unknown }[] = [];
  let thinking = '';
  let text = '';
  let finish = 'none';
  let usage: unknown;
  let error: unknown = null;
  for (const { name, data } of events) {
    expect(error, 'nothing after an error').toBeNull();
    if (data.error !== undefined) {
      expect(name, 'only a bare object is an error to the SDK').toBe('');
      error = data.error;
      expect(error).toMatchObject({ code: expect.any(Number), status: expect.stringMatching(/^[A-Z_]+$/) });
      continue;
    }
    expect(name).toBeUndefined();
    expect(data).toMatchObject({ modelVersion: 'asked-for', responseId: events[0]?.data.responseId });
    expect(data.candidates).toHaveLength(1);
    const [{ content, finishReason, index }] = data.candidates;
    expect({ index, role: content.role }).toEqual({ index: 0, role: 'model' });
    expect(finish, 'nothing after the finish').toBe('none');
    for (const part of content.parts) {
      if (part.functionCall === undefined) {
        expect(part.text).toEqual(expect.any(String));
        if (part.thought === true) thinking += part.text;
        else text += part.text;
        continue;
      }
      const { id, name: called, args } = part.functionCall;
      expect({ id, called, args }).toEqual({
        id: expect.stringMatching(/./),
        called: expect.stringMatching(/./),
        args: expect.any(Object),
      });
      calls.push({ name: called, input: args });
    }
    if (finishReason !== undefined) finish = finishReason;
    usage = data.usageMetadata ?? usage;
  }
  return { thinking, text, refusal: '', calls, finish, usage, error };
}
