import { describe, expect, test } from 'vitest';
import type { TextDialectName } from '../../../src/dialects/registry.ts';
import { readStrictly } from './read-strictly.ts';
import { runStream, sseOf, startTranslation } from './run-translation.ts';

/** What a client gets of a stream with those events. */
function streamed(client: TextDialectName, provider: TextDialectName, events: readonly object[]): string {
  const bytes = Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
  return runStream(startTranslation(client, provider), [bytes]).text;
}

/** What a Messages client understands of a chat host's deltas. */
function understood(deltas: readonly object[], last: object = { delta: {}, finish_reason: 'stop' }) {
  const choices = [...deltas.map((delta) => ({ index: 0, delta })), last];
  const events = choices.map((choice) => ({ choices: [choice] }));
  return readStrictly('messages', streamed('messages', 'chat', events));
}

describe('the liberties of chat hosts', () => {
  const piece = (members: object) => ({ tool_calls: [members] });
  const named = (input: string) => piece({ index: 0, id: 'a', function: { name: 'f', arguments: input } });

  test.each([
    [
      'id and name on every piece are one call',
      [named('{"a"'), named(':1'), named('}')],
      [{ name: 'f', input: { a: 1 } }],
    ],
    [
      'calls without an index are distinguished by id, or else by name',
      [
        piece({ id: 'a', function: { name: 'f', arguments: '{"a"' } }),
        piece({ function: { arguments: ':1}' } }),
        piece({ id: 'b', function: { name: 'f', arguments: '{}' } }),
        piece({ function: { name: 'g', arguments: '{"c":2}' } }),
      ],
      [
        { name: 'f', input: { a: 1 } },
        { name: 'f', input: {} },
        { name: 'g', input: { c: 2 } },
      ],
    ],
    [
      'indexes may begin at 1',
      [piece({ index: 1, id: 'a', function: { name: 'f', arguments: '{}' } })],
      [{ name: 'f', input: {} }],
    ],
    [
      'input that comes before the name is not lost',
      [
        piece({ index: 0, id: 'a', function: { arguments: '{"a"' } }),
        piece({ index: 0, function: { name: 'f', arguments: ':1}' } }),
      ],
      [{ name: 'f', input: { a: 1 } }],
    ],
    [
      'arguments may be an object',
      [piece({ index: 0, function: { name: 'f', arguments: { a: 1 } } })],
      [{ name: 'f', input: { a: 1 } }],
    ],
    [
      'empty text ahead of a call opens no block',
      [{ role: 'assistant', content: '' }, { content: null }, piece({ index: 0, function: { name: 'f' } })],
      [{ name: 'f', input: {} }],
    ],
  ])('%s', (_what, deltas, calls) => {
    expect(understood(deltas)).toMatchObject({ text: '', calls });
  });

  test('content as parts, reasoning under its other name, and a last choice without a delta', () => {
    const deltas = [{ reasoning: 'hm' }, { content: [{ type: 'text', text: 'yes' }] }];

    expect(understood(deltas, { finish_reason: 'length' })).toMatchObject({
      thinking: 'hm',
      text: 'yes',
      finish: 'max_tokens',
    });
  });

  test('other choices are not mixed into the first', () => {
    const choices = [
      { index: 1, delta: { content: 'other' } },
      { index: 0, delta: { content: 'first' } },
    ];
    const last = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };

    const text = streamed('messages', 'chat', [{ choices }, last]);

    expect(readStrictly('messages', text).text).toBe('first');
  });

  test('null choices, and events without data, are nothing', () => {
    const bytes = Buffer.from('event: x\n\ndata: {"choices":null}\n\ndata:\n\ndata: [DONE]\n\n');

    const { text } = runStream(startTranslation('messages', 'chat'), [bytes]);

    expect(readStrictly('messages', text)).toMatchObject({ text: '', finish: 'end_turn' });
  });
});

describe('reasoning of a responses provider', () => {
  const delta = (kind: string, members: object) => ({
    type: `response.${kind}.delta`,
    output_index: 0,
    ...members,
  });
  const end = { type: 'response.completed', response: { status: 'completed', output: [] } };

  test.each([
    [
      'parts of a summary are kept apart by a blank line',
      [
        delta('reasoning_summary_text', { summary_index: 0, delta: 'one' }),
        delta('reasoning_summary_text', { summary_index: 1, delta: 'two' }),
        delta('reasoning_summary_text', { summary_index: 1, delta: ' three' }),
      ],
      'one\n\ntwo three',
    ],
    [
      'the same thought as text and as summary comes once',
      [
        delta('reasoning_text', { content_index: 0, delta: 'thought' }),
        delta('reasoning_summary_text', { summary_index: 0, delta: 'thought' }),
      ],
      'thought',
    ],
  ])('%s', (_what, deltas, thinking) => {
    const text = streamed('messages', 'responses', [...deltas, end]);

    expect(readStrictly('messages', text).thinking).toBe(thinking);
  });
});

test('open items of a responses client are closed in the order of the output', () => {
  const call = { index: 0, id: 'c', function: { name: 'f', arguments: '{}' } };

  const text = streamed('responses', 'chat', [
    { choices: [{ index: 0, delta: { tool_calls: [call] } }] },
    { choices: [{ index: 0, delta: { content: 'afterwards' } }] },
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  ]);

  const done = text.matchAll(/"response.output_item.done".*?"output_index":(\d)/g);
  expect([...done].map(([, index]) => index)).toEqual(['0', '1']);
  expect(readStrictly('responses', text)).toMatchObject({
    text: 'afterwards',
    calls: [{ name: 'f', input: {} }],
  });
});

test('a chat client gets the usage only if it asked for it', () => {
  const request = { model: 'm', stream: true, messages: [] };
  const bytes = Buffer.from(
    'data: {"type":"message_start","message":{"usage":{"input_tokens":1,"output_tokens":1}}}\n\n' +
      'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}\n\n' +
      'data: {"type":"message_stop"}\n\n',
  );

  const { text } = runStream(startTranslation('chat', 'messages', request), [bytes]);

  expect(text).not.toContain('usage');
  expect(text.endsWith('"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')).toBe(true);
});

test("a provider's ping is a comment for a chat client, which keeps the connection", () => {
  const chat = startTranslation('chat', 'messages').stream();
  chat.event(undefined, '{"type":"message_start","message":{}}');

  expect(sseOf(chat.event('ping', '{"type":"ping"}'))).toBe(': ping\n\n');
});

test('the first event of a provider is passed on immediately', () => {
  const messages = startTranslation('messages', 'chat').stream();

  const text = sseOf(
    messages.event(undefined, '{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}'),
  );

  expect(text).toContain('event: message_start');
});
