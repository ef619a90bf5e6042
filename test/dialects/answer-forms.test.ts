import { describe, expect, test } from 'vitest';
import { wholeOf } from '../../src/dialects/answer-forms.ts';
import { dialects, type TextDialectName } from '../../src/dialects/registry.ts';
import { growth } from '../kit/growth.ts';
import { blockDelta, blockStart, chatChunk } from '../kit/stream-events.ts';

// What is gathered of a stream, for a client that asked for a whole answer. That it says the same as the stream is tried in
// test/dialects/translation/five-turns.test.ts.

const whole = (dialect: TextDialectName, events: readonly object[]) =>
  wholeOf(dialects[dialect], Buffer.from(events.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')));

const done = { type: 'message_stop' };
const finished = chatChunk({}, 'stop');

describe.each([1_000_000_000, -1, 1.5, 2 ** 60])('an index of %d', (index) => {
  test('costs a Messages answer nothing', () => {
    const events = [blockStart(index, { type: 'text', text: 'a' }), blockDelta(index, { text: 'b' }), done];

    expect(whole('messages', events).content).toEqual([{ type: 'text', text: 'ab' }]);
  });

  test.each([
    ['calls', { tool_calls: [{ index, id: 'a', function: { name: 'f', arguments: '{}' } }] }],
    ['details', { reasoning_details: [{ index, type: 'reasoning.text', text: 'a' }] }],
    ['annotations', { annotations: [{ index, type: 'url_citation' }] }],
  ])('costs the %s of a Chat answer nothing', (_what, delta) => {
    expect(JSON.stringify(whole('chat', [chatChunk(delta), finished])).length).toBeLessThan(400);
  });

  test('costs the choices and candidates of an answer nothing', () => {
    const chunk = { choices: [{ index, delta: { content: 'a' }, finish_reason: 'stop' }] };
    const candidate = { index, content: { parts: [{ text: 'a' }] }, finishReason: 'STOP' };

    expect(whole('chat', [chunk]).choices).toHaveLength(1);
    expect(whole('gemini', [{ candidates: [candidate] }]).candidates).toHaveLength(1);
  });
});

describe('what has many pieces is gathered in linear time', () => {
  const many: Record<string, readonly [TextDialectName, (at: number) => object, object]> = {
    'details without an index': [
      'chat',
      (at) => chatChunk({ reasoning_details: [{ type: 'reasoning.encrypted', data: `d${at}` }] }),
      finished,
    ],
    'signed texts': [
      'chat',
      (at) =>
        chatChunk({
          reasoning_details: [{ type: 'reasoning.text', text: 'a', signature: `s${at}`, index: at }],
        }),
      finished,
    ],
    'calls without an index': [
      'chat',
      (at) => chatChunk({ tool_calls: [{ id: `c${at}`, function: { name: 'f', arguments: '{}' } }] }),
      finished,
    ],
    'pieces of one call': [
      'chat',
      () => chatChunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: 'a' } }] }),
      finished,
    ],
    'parts of thinking': [
      'chat',
      () => chatChunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'a' }] }] }),
      finished,
    ],
    annotations: ['chat', (at) => chatChunk({ annotations: [{ url: `u${at}` }] }), finished],
    logprobs: [
      'chat',
      () => ({ choices: [{ index: 0, delta: {}, logprobs: { content: [{ token: 'a', bytes: [97] }] } }] }),
      finished,
    ],
    choices: [
      'chat',
      (index) => ({ choices: [{ index, delta: { content: 'a' }, finish_reason: 'stop' }] }),
      finished,
    ],
    blocks: ['messages', (at) => blockStart(at, { type: 'text', text: 'a' }), done],
    citations: ['messages', () => blockDelta(0, { type: 'citations_delta', citation: {} }), done],
    'pieces of input': ['messages', () => blockDelta(0, { partial_json: 'a' }), done],
    'parts of text': [
      'gemini',
      () => ({ candidates: [{ content: { parts: [{ text: 'a' }, { functionCall: {} }] } }] }),
      { candidates: [{ finishReason: 'STOP' }] },
    ],
    items: [
      'responses',
      (at) => ({ type: 'response.output_item.done', item: { id: `i${at}` } }),
      { type: 'response.completed', response: { output: [] } },
    ],
  };

  test.each(Object.entries(many))('%s', (_what, [dialect, event, last]) => {
    const run = (count: number) =>
      whole(dialect, [...Array.from({ length: count }, (_, at) => event(at)), last]);

    expect(growth(run, { small: 4_000, large: 32_000, limit: 20 })).toBeLessThan(20);
  });
});

test('what only the dialect itself has is kept', () => {
  const answer = whole('chat', [
    {
      id: 'x',
      system_fingerprint: 'fp',
      choices: [
        { index: 0, delta: { role: 'assistant', content: 'a' }, logprobs: { content: [{ token: 'a' }] } },
      ],
    },
    {
      choices: [
        {
          index: 0,
          delta: { content: 'b', annotations: [{ url: 'u' }] },
          logprobs: { content: [{ token: 'b' }] },
        },
      ],
    },
    {
      choices: [
        {
          index: 0,
          delta: {
            tool_calls: [{ index: 3, id: 'c', type: 'custom', custom: { name: 'patch', input: '{}' } }],
          },
        },
      ],
    },
    {
      choices: [
        { index: 0, delta: { tool_calls: [{ index: 3, custom: { input: '+a' }, extra_content: { a: 1 } }] } },
      ],
    },
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    { choices: [], usage: { prompt_tokens: 1, prompt_tokens_details: { audio_tokens: 2 } } },
  ]);

  expect(answer).toEqual({
    id: 'x',
    object: 'chat.completion',
    system_fingerprint: 'fp',
    choices: [
      {
        index: 0,
        finish_reason: 'stop',
        logprobs: { content: [{ token: 'a' }, { token: 'b' }] },
        message: {
          role: 'assistant',
          content: 'ab',
          annotations: [{ url: 'u' }],
          tool_calls: [
            { id: 'c', type: 'custom', custom: { name: 'patch', input: '{}+a' }, extra_content: { a: 1 } },
          ],
        },
      },
    ],
    usage: { prompt_tokens: 1, prompt_tokens_details: { audio_tokens: 2 } },
  });
});

test('a call that was cut keeps what came of it', () => {
  const start = blockStart(0, { type: 'tool_use', id: 'a', name: 'f', input: {} });
  const events = [start, blockDelta(0, { type: 'input_json_delta', partial_json: '{"a":' }), done];

  expect(whole('messages', events).content).toMatchObject([{ input: { raw_arguments: '{"a":' } }]);
});

test.each([
  ['chat', { object: 'error', message: 'overloaded' }],
  ['chat', { error: 'overloaded' }],
  ['chat', { choices: [{ index: 0, error: { message: 'overloaded' } }] }],
  ['responses', { type: 'error', code: 'server_error', message: 'overloaded' }],
  ['messages', { type: 'error', error: { type: 'overloaded_error', message: 'overloaded' } }],
  ['gemini', { error: { code: 503, message: 'overloaded' } }],
] as const)('an error in a stream of %s is the answer: %j', (dialect, event) => {
  expect(whole(dialect, [event])).toEqual(event);
});
