import { expect, test } from 'vitest';
import { policyOf, saying } from '../deciding.ts';

const decide = policyOf({ id: 'm', action: 'block', when: { model: ['gpt-*', 'o?'] } });

test.each([
  ['gpt-4o', 'block'],
  ['o3', 'block'],
  ['o3-mini', 'allow'],
  ['xgpt-4o', 'allow'],
  // Some hosts ignore case.
  ['GPT-4o', 'block'],
  ['O3', 'block'],
])('model globs match whole names: %s', (model, action) => {
  expect(decide(saying('hi'), { model }).action).toBe(action);
});

test('the name at any provider counts', () => {
  expect(decide(saying('hi'), { model: 'fast', targetModels: ['llama3', 'gpt-4o-mini'] }).refusal?.at).toBe(
    '/model',
  );
});

test('names in a list of substitutes count', () => {
  expect(decide({ messages: [], models: ['a', 'gpt-4o'] }).action).toBe('block');
});

test('an exception matches only as written', () => {
  const only = policyOf({ id: 'm', action: 'block', unless: { model: ['gpt-*'] } });

  expect(only(saying('hi'), { model: 'gpt-4o' }).action).toBe('allow');
  expect(only(saying('hi'), { model: 'GPT-4o' }).action).toBe('block');
});

test('a pattern may be written in any case', () => {
  const upper = policyOf({ id: 'm', action: 'block', when: { model: ['GPT-*'] } });

  expect(upper(saying('hi'), { model: 'gpt-4o' }).action).toBe('block');
});
