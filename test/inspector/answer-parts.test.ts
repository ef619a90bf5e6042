import { describe, expect, test } from 'vitest';
import { assembleAnswer } from '../../src/inspector/detail/answer-parts.ts';
import { blockDelta, blockStart, blockStop, chatChunk, textBlock } from '../kit/stream-events.ts';

function assemble(endpoint: string, events: readonly unknown[]) {
  const answer = assembleAnswer(endpoint, (text) => text.replaceAll('secret', '•••'));
  for (const event of events)
    answer.event(undefined, typeof event === 'string' ? event : JSON.stringify(event));
  return answer.parts();
}

describe('a streamed answer is assembled', () => {
  test('messages: thinking, text and tool calls, in order', () => {
    const parts = assemble('messages', [
      { type: 'message_start', message: { usage: { input_tokens: 1, output_tokens: 1 } } },
      blockStart(0, { type: 'thinking', thinking: '' }),
      blockDelta(0, { type: 'thinking_delta', thinking: 'The clock ' }),
      blockDelta(0, { type: 'thinking_delta', thinking: 'is mocked.' }),
      blockStop(0),
      ...textBlock(1, 'I run ', 'the tests.'),
      blockStart(2, { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: {} }),
      blockDelta(2, { type: 'input_json_delta', partial_json: '{"comm' }),
      blockDelta(2, { type: 'input_json_delta', partial_json: 'and":"npm test"}' }),
      blockStop(2),
    ]);

    expect(parts).toEqual([
      { kind: 'thinking', text: 'The clock is mocked.' },
      { kind: 'text', text: 'I run the tests.' },
      { kind: 'call', name: 'Bash', text: '{"command":"npm test"}' },
    ]);
  });

  test('chat: parallel calls whose arguments come in turns', () => {
    const call = (index: number, more: object) => chatChunk({ tool_calls: [{ index, ...more }] });
    const parts = assemble('chat', [
      chatChunk({ content: 'Looking.' }),
      call(0, { id: 'call_1', type: 'function', function: { name: 'one', arguments: '{"a":' } }),
      call(0, { function: { arguments: '1}' } }),
      call(1, { id: 'call_2', type: 'function', function: { name: 'two', arguments: '{}' } }),
      '[DONE]',
    ]);

    expect(parts).toEqual([
      { kind: 'text', text: 'Looking.' },
      { kind: 'call', name: 'one', text: '{"a":1}' },
      { kind: 'call', name: 'two', text: '{}' },
    ]);
  });

  test('a secret that is split over events is masked, in names too', () => {
    const parts = assemble('chat', [
      chatChunk({ content: 'sec' }),
      chatChunk({ content: 'ret' }),
      chatChunk({ tool_calls: [{ index: 0, id: 'c', function: { name: 'secret', arguments: '{}' } }] }),
      '[DONE]',
    ]);

    expect(parts).toEqual([
      { kind: 'text', text: '•••' },
      { kind: 'call', name: '•••', text: '{}' },
    ]);
  });

  test.each(['messages', 'chat', 'responses', 'embeddings', 'unknown', '__proto__'])(
    '%s: rubbish between the events is left out',
    (endpoint) => {
      for (const rubbish of ['', '{', 'null', '[]', '"x"', '{"choices":[{"delta":[]}]}', '{"type":{}}'])
        expect(assemble(endpoint, [rubbish]).every(({ kind }) => kind === 'error')).toBe(true);
    },
  );

  test('an answer of very many parts is bounded, and says so', () => {
    const events = Array.from({ length: 5_000 }, (_, i) =>
      chatChunk(i % 2 === 0 ? { content: 'a' } : { reasoning_content: 'b' }),
    );

    const parts = assemble('chat', events);

    expect(parts).toHaveLength(201);
    expect(parts.at(-1)).toEqual({ kind: 'more', text: '' });
  });
});
