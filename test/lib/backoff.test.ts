import { expect, test } from 'vitest';
import { backoffMs, countDeath, restarts } from '../../src/lib/backoff.ts';

test('the wait doubles with each failure in a row, up to the longest', () => {
  const waits = [1, 2, 3, 4, 8, 50].map((failures) => backoffMs(failures, restarts, 0));

  expect(waits).toEqual([100, 200, 400, 800, 10_000, 10_000]);
});

test('up to a half of the wait is left out at random', () => {
  expect(backoffMs(2, restarts, 1)).toBe(100);
});

test('deaths soon after the start are counted together', () => {
  expect(countDeath(0, 10)).toBe(1);
  expect(countDeath(3, 29_999)).toBe(4);
});

test('a process that lived for a while begins the count anew', () => {
  expect(countDeath(7, 30_000)).toBe(1);
});
