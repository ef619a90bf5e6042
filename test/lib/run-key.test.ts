import { expect, test } from 'vitest';
import { parseRunKey, type Run, toRunKey } from '../../src/lib/run-key.ts';

const id = 'run-5b2ce1f0a97d';

test.each<[Run, string]>([
  [{ id }, `gw_k~${id}`],
  [{ id, budget: 0.000001 }, `gw_k~${id}~usd-0.000001`],
  [{ id, requests: 200 }, `gw_k~${id}~requests-200`],
  [{ id, budget: 5, requests: 200 }, `gw_k~${id}~usd-5~requests-200`],
])('%j is written as %s, and read again', (run, text) => {
  expect(toRunKey('gw_k', run)).toBe(text);
  expect(parseRunKey(text)).toEqual({ key: 'gw_k', runs: [run] });
});

test('a run within a run keeps the limits of the outer one', () => {
  const inner = { id: 'run-000000000000', budget: 9 };

  expect(parseRunKey(toRunKey(toRunKey('k', { id, budget: 1 }), inner))).toEqual({
    key: 'k',
    runs: [inner, { id, budget: 1 }],
  });
});

test.each([
  '',
  'gw_k',
  'gw_k~run-5b2ce1f0a97',
  `gw_k~${id}~usd-many`,
  `gw_k~${id}~requests-2~usd-1`,
  `gw_k~${id} `,
])('%j names no run', (key) => {
  expect(parseRunKey(key)).toEqual({ key, runs: [] });
});
