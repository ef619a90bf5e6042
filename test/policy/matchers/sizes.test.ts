import { expect, test } from 'vitest';
import { policyOf, saying } from '../deciding.ts';

const turns = (count: number) => Array.from({ length: count }, () => ({ role: 'user', content: 'hi' }));

test('messages counts the turns of each dialect', () => {
  const decide = policyOf({ id: 'm', action: 'block', when: { messages: { over: 2 } } });

  expect(decide({ messages: turns(2) }).action).toBe('allow');
  expect(decide({ messages: turns(3) }).refusal?.at).toBe('/messages');
  expect(decide({ input: turns(3) }, { endpoint: 'responses' }).action).toBe('block');
  expect(decide({ input: 'hi' }, { endpoint: 'responses' }).action).toBe('allow');
});

test('bytes counts the body', () => {
  const decide = policyOf({ id: 'b', action: 'block', when: { bytes: { over: 200 } } });

  expect(decide(saying('hi')).action).toBe('allow');
  expect(decide(saying('x'.repeat(200))).action).toBe('block');
});
