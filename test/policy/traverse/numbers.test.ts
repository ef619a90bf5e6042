import { expect, test } from 'vitest';
import { decider, policyOf } from '../deciding.ts';

const rule = (id: string, more: object = {}) => ({
  id,
  action: 'block',
  when: { text: { phrases: ['nightfall'] } },
  ...more,
});
const numbers = { model: 'm', input: [1, 2, 3] };

test('numbers in place of text are refused although a rule in dry run stands first', () => {
  const decide = policyOf(rule('tried', { mode: 'monitor' }), rule('meant'));

  const decision = decide(numbers, { endpoint: 'embeddings' });

  expect(decision.refusal).toMatchObject({ rule: 'meant', reason: 'content.unreadable' });
  expect(decision.wouldBlock).toEqual(['tried']);
});

test('numbers are refused although those of another role stand before them', () => {
  const decide = policyOf(rule('users', { when: { text: { phrases: ['nightfall'], in: ['user'] } } }));
  const turn = (role: string) => ({ role, content: [1, 2] });

  const decision = decide({ messages: [turn('assistant'), turn('user')] }, { endpoint: 'chat' });

  expect(decision.refusal).toMatchObject({ reason: 'content.unreadable', at: '/messages/1/content/0' });
  expect(decide({ messages: [turn('assistant')] }, { endpoint: 'chat' }).action).toBe('allow');
});

test('numbers in places of data are data', () => {
  const body = {
    messages: [
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'a', name: 'b', input: { text: [1, 2], content: [3] } }],
      },
    ],
    tools: [{ name: 'b', input_schema: { properties: { a: { enum: [1, 2, 3] } } } }],
    logprobs: [[1, 2]],
  };

  expect(decider({ rules: [rule('meant')] })(body)).toMatchObject({ action: 'allow', verdicts: [] });
});
