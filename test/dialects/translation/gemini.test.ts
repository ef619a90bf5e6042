import { describe, expect, test } from 'vitest';
import { dialects } from '../../../src/dialects/registry.ts';
import { createTranslation } from '../../../src/dialects/translate.ts';
import { textDialects } from '../../kit/dialects.ts';
import { readStrictly } from './read-strictly.ts';
import { newContext, runStream, startTranslation } from './run-translation.ts';

const others = textDialects.filter((name) => name !== 'gemini');
const line = (value: unknown) => `data: ${JSON.stringify(value)}\r\n\r\n`;
const candidate = (parts: readonly unknown[], more: object = {}) => ({
  candidates: [{ content: { parts, role: 'model' }, index: 0, ...more }],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4, thoughtsTokenCount: 2, totalTokenCount: 9 },
});

describe.each(others)('a client of %s and a Gemini provider', (client) => {
  test('gets a whole answer with thinking and a call', () => {
    const body = candidate(
      [
        { text: 'Hm.', thought: true },
        { text: 'Let me look.' },
        { functionCall: { id: 'c1', name: 'get_weather', args: { city: 'Köln' } }, thoughtSignature: 'x' },
      ],
      { finishReason: 'STOP' },
    );

    const answer = JSON.stringify(startTranslation(client, 'gemini').answer(body).body);

    for (const text of ['Let me look.', 'get_weather', 'Köln']) expect(answer).toContain(text);
    expect(answer).not.toContain('thoughtSignature');
  });

  test('gets a stream with a call, by the rules of its dialect', () => {
    const events = [
      line(candidate([{ text: 'Let me ' }])),
      line(candidate([{ text: 'look.' }])),
      line(candidate([{ functionCall: { name: 'get_weather', args: { city: 'Köln' } } }])),
      line(candidate([{ functionCall: { name: 'list_plants', args: {} } }], { finishReason: 'STOP' })),
    ];

    const streamed = runStream(startTranslation(client, 'gemini'), [Buffer.from(events.join(''))]);

    expect(streamed.thrown).toBeUndefined();
    expect(streamed.usage).toMatchObject({ inputTokens: 3, outputTokens: 6, reasoningTokens: 2 });
    expect(readStrictly(client, streamed.text)).toMatchObject({
      text: 'Let me look.',
      calls: [{ name: 'get_weather' }, { name: 'list_plants' }],
    });
  });

  test.each([
    ['SAFETY', { candidates: [{ finishReason: 'SAFETY' }] }],
    ['a blocked prompt', { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }],
  ])('is told of %s', (_name, body) => {
    const answer = JSON.stringify(startTranslation(client, 'gemini').answer(body).body);

    expect(answer).toMatch(/refusal|content_filter/);
  });

  test('an answer without candidates, or with a malformed call, is broken', () => {
    const translation = startTranslation(client, 'gemini');

    for (const body of [{}, { candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL' }] }]) {
      expect(() => translation.answer(body)).toThrow(
        expect.objectContaining({ code: 'provider.broken_response' }),
      );
    }
  });
});

test('calls without ids are matched with responses by name, in order', () => {
  const call = (name: string) => ({ functionCall: { name, args: {} } });
  const response = (name: string, output: string) => ({ functionResponse: { name, response: { output } } });
  const body = {
    contents: [
      { role: 'user', parts: [{ text: 'go' }] },
      { role: 'model', parts: [call('f'), call('g'), call('f')] },
      { role: 'user', parts: [response('f', 'one'), response('f', 'two'), response('g', 'three')] },
    ],
  };

  const { messages } = createTranslation(dialects.gemini, dialects.chat, newContext()).request(body).body as {
    messages: { content: string }[];
  };

  expect(messages.slice(2).map(({ content }) => content)).toEqual(['one', 'three', 'two']);
});

test('the first call of a turn is signed for models that insist on it', () => {
  const tool_calls = ['a', 'b'].map((id) => ({
    id,
    type: 'function',
    function: { name: 'f', arguments: '{}' },
  }));
  const body = {
    model: 'm',
    messages: [
      { role: 'assistant', tool_calls },
      { role: 'user', content: 'x' },
    ],
  };
  const signed = (targetModel: string) =>
    JSON.stringify(
      createTranslation(dialects.chat, dialects.gemini, newContext({ targetModel })).request(body).body,
    ).split('skip_thought_signature_validator').length - 1;

  expect([signed('gemini-3-pro'), signed('gemini-2.5-pro')]).toEqual([1, 0]);
});

test('a field of no known name is dropped without a look inside, however large it is', () => {
  const unseen = new Proxy([], {
    get: () => {
      throw new Error('it was looked into');
    },
  });
  const body = { contents: [{ parts: [{ text: 'hello' }] }], not_known: unseen };

  const { dropped } = createTranslation(dialects.gemini, dialects.chat, newContext()).request(body);

  expect(dropped).toEqual(['notKnown']);
});
