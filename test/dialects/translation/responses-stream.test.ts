import { describe, expect, test } from 'vitest';
import { readStrictly } from './read-strictly.ts';
import { runStream, startTranslation } from './run-translation.ts';

function sse(events: readonly object[]): Buffer {
  return Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
}

test('open items are closed in the order of the output', () => {
  const call = { index: 0, id: 'c', function: { name: 'f', arguments: '{}' } };
  const bytes = sse([
    { choices: [{ index: 0, delta: { tool_calls: [call] } }] },
    { choices: [{ index: 0, delta: { content: 'afterwards' } }] },
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  ]);

  const { text } = runStream(startTranslation('responses', 'chat'), [bytes]);

  const done = [...text.matchAll(/"response.output_item.done".*?"output_index":(\d)/g)].map(
    (match) => match[1],
  );
  expect(done).toEqual(['0', '1']);
  expect(readStrictly('responses', text)).toMatchObject({
    text: 'afterwards',
    calls: [{ name: 'f', input: {} }],
  });
});

describe('reasoning of a responses provider', () => {
  const delta = (kind: string, members: object) => ({
    type: `response.${kind}.delta`,
    output_index: 0,
    ...members,
  });
  const end = { type: 'response.completed', response: { status: 'completed', output: [] } };

  test('parts of a summary are kept apart by a blank line', () => {
    const bytes = sse([
      delta('reasoning_summary_text', { summary_index: 0, delta: 'one' }),
      delta('reasoning_summary_text', { summary_index: 1, delta: 'two' }),
      delta('reasoning_summary_text', { summary_index: 1, delta: ' three' }),
      end,
    ]);

    const { text } = runStream(startTranslation('messages', 'responses'), [bytes]);

    expect(readStrictly('messages', text).thinking).toBe('one\n\ntwo three');
  });

  test('the same thought as text and as summary comes once', () => {
    const bytes = sse([
      delta('reasoning_text', { content_index: 0, delta: 'thought' }),
      delta('reasoning_summary_text', { summary_index: 0, delta: 'thought' }),
      end,
    ]);

    const { text } = runStream(startTranslation('messages', 'responses'), [bytes]);

    expect(readStrictly('messages', text).thinking).toBe('thought');
  });
});
