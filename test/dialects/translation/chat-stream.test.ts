import { describe, expect, test } from 'vitest';
import { readStrictly } from './read-strictly.ts';
import { runStream, startTranslation } from './run-translation.ts';

function stream(deltas: readonly object[], last: object = { delta: {}, finish_reason: 'stop' }): Buffer {
  const chunks = [...deltas.map((delta) => ({ index: 0, delta })), last];
  const lines = chunks.map((choice) => `data: ${JSON.stringify({ choices: [choice] })}\n\n`);
  return Buffer.from(`${lines.join('')}data: [DONE]\n\n`);
}

function run(deltas: readonly object[], last?: object) {
  return readStrictly(
    'messages',
    runStream(startTranslation('messages', 'chat'), [stream(deltas, last)]).text,
  );
}

const piece = (members: object) => ({ tool_calls: [members] });

describe('the liberties of chat hosts', () => {
  test('id and name on every piece are one call', () => {
    const named = (input: string) => piece({ index: 0, id: 'a', function: { name: 'f', arguments: input } });

    expect(run([named('{"a"'), named(':1'), named('}')]).calls).toEqual([{ name: 'f', input: { a: 1 } }]);
  });

  test('calls without an index are distinguished by id, or else by name', () => {
    const deltas = [
      piece({ id: 'a', function: { name: 'f', arguments: '{"a"' } }),
      piece({ function: { arguments: ':1}' } }),
      piece({ id: 'b', function: { name: 'f', arguments: '{}' } }),
      piece({ function: { name: 'g', arguments: '{"c":2}' } }),
    ];

    expect(run(deltas).calls).toEqual([
      { name: 'f', input: { a: 1 } },
      { name: 'f', input: {} },
      { name: 'g', input: { c: 2 } },
    ]);
  });

  test('indexes may begin at 1', () => {
    expect(run([piece({ index: 1, id: 'a', function: { name: 'f', arguments: '{}' } })]).calls).toHaveLength(
      1,
    );
  });

  test('input that comes before the name is not lost', () => {
    const deltas = [
      piece({ index: 0, id: 'a', function: { arguments: '{"a"' } }),
      piece({ index: 0, function: { name: 'f', arguments: ':1}' } }),
    ];

    expect(run(deltas).calls).toEqual([{ name: 'f', input: { a: 1 } }]);
  });

  test('arguments may be an object', () => {
    expect(run([piece({ index: 0, function: { name: 'f', arguments: { a: 1 } } })]).calls).toEqual([
      { name: 'f', input: { a: 1 } },
    ]);
  });

  test('empty text ahead of a call opens no block', () => {
    const outcome = run([
      { role: 'assistant', content: '' },
      { content: null },
      piece({ index: 0, function: { name: 'f' } }),
    ]);

    expect(outcome).toMatchObject({ text: '', calls: [{ name: 'f', input: {} }] });
  });

  test('content as parts, reasoning under its other name, and a last choice without a delta', () => {
    const deltas = [{ reasoning: 'hm' }, { content: [{ type: 'text', text: 'yes' }] }];

    expect(run(deltas, { finish_reason: 'length' })).toMatchObject({
      thinking: 'hm',
      text: 'yes',
      finish: 'max_tokens',
    });
  });

  test('other choices are not mixed into the first', () => {
    const chunk = {
      choices: [
        { index: 1, delta: { content: 'other' } },
        { index: 0, delta: { content: 'first' } },
      ],
    };
    const bytes = Buffer.from(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);

    const { text } = runStream(startTranslation('messages', 'chat'), [bytes]);

    expect(readStrictly('messages', text).text).toBe('first');
  });

  test('null choices, and events without data, are nothing', () => {
    const bytes = Buffer.from('event: x\n\ndata: {"choices":null}\n\ndata:\n\ndata: [DONE]\n\n');

    const { text } = runStream(startTranslation('messages', 'chat'), [bytes]);

    expect(readStrictly('messages', text)).toMatchObject({ text: '', finish: 'end_turn' });
  });
});

describe('what a chat client asked for', () => {
  test('usage comes only when it was', () => {
    const request = { model: 'm', stream: true, messages: [] };
    const bytes = Buffer.from(
      [
        '{"type":"message_start","message":{"usage":{"input_tokens":1,"output_tokens":1}}}',
        '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}',
        '{"type":"message_stop"}',
      ]
        .map((data) => `data: ${data}\n\n`)
        .join(''),
    );

    const { text } = runStream(startTranslation('chat', 'messages', request), [bytes]);

    expect(text).not.toContain('usage');
    expect(text.endsWith('"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')).toBe(true);
  });

  test("a provider's ping is a comment that keeps the connection", () => {
    const chat = startTranslation('chat', 'messages').stream();
    chat.event(undefined, '{"type":"message_start","message":{}}');

    expect(chat.event('ping', '{"type":"ping"}')).toBe(': ping\n\n');
  });
});

test('the first event of a provider is passed on immediately', () => {
  const messages = startTranslation('messages', 'chat').stream();

  const text = messages.event(
    undefined,
    '{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}',
  );

  expect(text).toContain('event: message_start');
});

test('null in a later usage does not erase what was counted', () => {
  const stream = startTranslation('chat', 'messages').stream();
  stream.event(
    undefined,
    '{"type":"message_start","message":{"usage":{"input_tokens":9,"output_tokens":1}}}',
  );

  stream.event(
    undefined,
    '{"type":"message_delta","delta":{},"usage":{"input_tokens":null,"output_tokens":5}}',
  );

  expect(stream.tally.usage).toMatchObject({ inputTokens: 9, outputTokens: 5 });
});
