import { expect, test } from 'vitest';
import { countDeath, restartDelayMs } from '../../../../src/server/workers/restart-delay.ts';

test('the wait doubles with each death in a row, up to ten seconds', () => {
  expect([1, 2, 3, 4, 8, 50].map(restartDelayMs)).toEqual([100, 200, 400, 800, 10_000, 10_000]);
});

test('deaths soon after the start are counted together', () => {
  expect(countDeath(0, 10)).toBe(1);
  expect(countDeath(3, 29_999)).toBe(4);
});

test('a process that lived for a while begins the count anew', () => {
  expect(countDeath(7, 30_000)).toBe(1);
});
