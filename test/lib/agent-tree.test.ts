import { expect, test } from 'vitest';
import { agentTree } from '../../src/lib/agent-tree.ts';

const placesOf = (agents: readonly (readonly [subagent: string | undefined, parent?: string])[]) =>
  agentTree(agents.map(([subagent, parent]) => ({ subagent, parent }))).map(
    ({ subagent = 'main', depth }) => `${depth} ${subagent}`,
  );

test('each agent is behind the one that started it, in the order in which they came', () => {
  const agents = [['c', 'a'], ['a'], [undefined, 'another session'], ['b'], ['d', 'c'], ['e', 'a']] as const;

  expect(placesOf(agents)).toEqual(['0 main', '1 a', '2 c', '3 d', '2 e', '1 b']);
});

test('without a main agent, or one that is known, they are beside each other', () => {
  expect(placesOf([['a', 'gone'], ['b']])).toEqual(['1 a', '1 b']);
});

test('agents that are said to be their own ancestors are there once each', () => {
  expect(placesOf([[undefined], ['a', 'a'], ['b', 'c'], ['c', 'b'], ['d', 'c']])).toEqual([
    ...['0 main', '1 a', '1 b', '2 c', '3 d'],
  ]);
});

test('a chain of ten thousand is no deeper than the stack', () => {
  const chain = Array.from({ length: 10_000 }, (_, i) => [`a${i}`, `a${i - 1}`] as const);

  expect(placesOf(chain).at(-1)).toBe('10000 a9999');
});
