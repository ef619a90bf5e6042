import { expect, test } from 'vitest';
import { dialects } from '../../src/dialects/registry.ts';
import { countTextTokens } from '../../src/dialects/usage.ts';
import { chatEvents, messagesAnswer, messagesEvents, responsesEvents } from '../kit/answers.ts';

const count = (dialect: 'chat' | 'messages' | 'responses', json: string) =>
  countTextTokens(Buffer.from(json).toString('latin1'), dialects[dialect].writtenMembers);

test.each([
  ['chat', chatEvents],
  ['messages', messagesEvents],
  // One event has all of it, so that only one of its tokens is cut.
  ['responses', responsesEvents],
] as const)(
  'events of %s are at most a token for three bytes, and one for each beyond ASCII',
  (dialect, events) => {
    const tokens = events.map((event) => count(dialect, event)).reduce((sum, each) => sum + each, 0);

    expect(tokens).toBe(16);
  },
);

test.each([
  ['what the model wrote, but no labels', messagesAnswer, 7],
  [
    'arguments of a call and its name',
    '{"content":[{"type":"tool_use","id":"t","name":"abc","input":{"k":"defghi"}}]}',
    3,
  ],
  ['an escape as one byte, or three beyond ASCII', '{"content":"\\n\\n\\n\\u6771"}', 4],
  ['a text that is cut', '{"type":"x","delta":{"text":"abcdef', 2],
  ['nothing in null, a number and a text outside', '{"delta":null,"content":12,"comment":"abcdef"}', 0],
  ['no name that is only quoted', '{"note":"\\"delta\\":\\"abcdef\\""}', 0],
])('counts %s', (_what, json, tokens) => {
  expect(count('messages', json)).toBe(tokens);
});

test.each([
  [
    'a whole message in place of a piece',
    '{"choices":[{"message":{"role":"assistant","content":"abcdef"}}]}',
  ],
  ['what a host adds', '{"choices":[{"delta":{"reasoning_text":"abcdef"},"finish_reason":"stop"}]}'],
])('counts %s in an event of a chat', (_what, json) => {
  expect(count('chat', json)).toBe(2);
});
