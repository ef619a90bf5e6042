import { expect, test } from 'vitest';
import { dialects } from '../../../src/dialects/registry.ts';
import { createTranslation } from '../../../src/dialects/translate.ts';
import { textDialects } from '../../kit/dialects.ts';
import { newContext, startTranslation } from './run-translation.ts';

const others = textDialects.filter((name) => name !== 'gemini');

test.each(others)('a client of %s is told of a prompt that Gemini blocked', (client) => {
  const body = { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } };
  const answer = JSON.stringify(startTranslation(client, 'gemini').answer(body).body);

  expect(answer).toMatch(/refusal|content_filter/);
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
