import { expect, test } from 'vitest';
import { policyOf, saying } from '../deciding.ts';

test('a rule may name endpoints', () => {
  const decide = policyOf({ id: 'e', action: 'block', when: { endpoint: ['embeddings', 'chat'] } });

  expect(decide(saying('hi'), { endpoint: 'chat' }).action).toBe('block');
  expect(decide(saying('hi'), { endpoint: 'messages' }).action).toBe('allow');
});
