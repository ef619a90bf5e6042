import { expect, test } from 'vitest';
import type { TextDialectName } from '../../../src/dialects/registry.ts';
import type { TranslationContext } from '../../../src/dialects/translation/context.ts';
import { startTranslation } from './run-translation.ts';

function sentTo(body: object, changes: Partial<TranslationContext> = {}, client: TextDialectName = 'chat') {
  const translation = startTranslation(client, 'messages', undefined, {
    host: 'anthropic',
    targetModel: 'claude-opus-5',
    ...changes,
  });
  return translation.request({ model: 'claude', ...body }).body;
}

/** The texts, names and ids of what is marked. */
function marked(body: unknown): string[] {
  const found: string[] = [];
  JSON.stringify(body, (_key, value) => {
    if (value?.cache_control !== undefined) found.push(value.text ?? value.name ?? value.tool_use_id);
    return value;
  });
  return found;
}

const tool = (name: string) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: {} } },
});
const work = (turns: number) =>
  Array.from({ length: turns }, (_, i) => [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: `c${i}`, type: 'function', function: { name: 'f', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: `c${i}`, content: `result ${i}` },
  ]).flat();
const session = (turns: number) => ({
  messages: [{ role: 'system', content: 'rules' }, { role: 'user', content: 'begin' }, ...work(turns)],
  tools: [tool('f'), tool('g')],
});

test('marks the system prompt, the end of the request before, the last block and the last tool', () => {
  expect(marked(sentTo(session(3)))).toEqual(['rules', 'c1', 'c2', 'g']);
});

test('each request begins with what the one before it marked last', () => {
  const plain = (turns: number) => {
    const { messages } = sentTo(session(turns)) as { messages: object[] };
    return messages.map((message) =>
      JSON.stringify(message, (key, value) => (key === 'cache_control' ? undefined : value)),
    );
  };

  expect(plain(4).slice(0, plain(3).length)).toEqual(plain(3));
  expect(marked(sentTo(session(3)))).toContain('c2');
  expect(marked(sentTo(session(4)))).toContain('c2');
});

test('never more than four with the client’s own, of one lifetime', () => {
  const long = { type: 'ephemeral', ttl: '1h' };
  const messages = ['a', 'b', 'c', 'd'].map((text) => ({
    role: 'user',
    content: [{ type: 'text', text, cache_control: long }],
  }));
  const body = sentTo({ ...session(0), messages: [{ role: 'system', content: 'rules' }, ...messages] });

  expect(marked(body)).toEqual(['rules', 'c', 'd', 'g']);
  expect(JSON.stringify(body)).not.toContain('"cache_control":{"type":"ephemeral"}');
});

test('marks inside of results count, and those of whole messages too', () => {
  const cache_control = { type: 'ephemeral', ttl: '1h' };
  const results = work(6).map((message) =>
    message.role === 'tool'
      ? { ...message, content: [{ type: 'text', text: message.content, cache_control }] }
      : message,
  );
  const user = { role: 'user', content: 'begin', cache_control };
  const inside = sentTo({ messages: [{ role: 'user', content: 'begin' }, ...results] });
  const whole = sentTo({ messages: [user, ...work(6), { role: 'user', content: 'go on' }] });

  expect(JSON.stringify(inside).split('"cache_control"')).toHaveLength(5);
  expect(JSON.stringify(whole)).toContain('"begin","cache_control":{"type":"ephemeral","ttl":"1h"}');
});

test.each([{ promptCache: 'off' } as const, { host: 'unknown' } as const])(
  'nothing is marked with %o',
  (changes) => {
    expect(marked(sentTo(session(2), changes))).toEqual([]);
  },
);

test('a thought is never marked', () => {
  const first = startTranslation('chat', 'messages', undefined, {
    host: 'anthropic',
    targetModel: 'claude-opus-5',
  });
  const { body } = first.answer({
    type: 'message',
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'hm', signature: 'SIG' },
      { type: 'text', text: 'well' },
    ],
    stop_reason: 'end_turn',
    usage: { input_tokens: 1, output_tokens: 1 },
  }) as { body: { choices: [{ message: object }] } };

  const go = { role: 'user', content: 'go' };
  expect(
    marked(sentTo({ messages: [{ role: 'user', content: 'x' }, body.choices[0].message, go] })),
  ).not.toContain('hm');
});

test('the line of Claude Code that differs in each conversation does not stand before the prompt elsewhere', () => {
  const system = [
    { type: 'text', text: 'x-anthropic-billing-header: cc_version=2; cch=abcde;' },
    { type: 'text', text: 'x-anthropic-billing-header: cc_version=2;\nYou are Claude Code.' },
  ];
  const { body } = startTranslation('messages', 'chat').request({
    model: 'm',
    max_tokens: 9,
    system,
    messages: [{ role: 'user', content: 'x' }],
  });

  expect(body).toMatchObject({ messages: [{ role: 'system', content: 'You are Claude Code.' }, {}] });
});
