import { expect, test } from 'vitest';
import { mainThreadBudget } from '../../../src/gateway/decision/decider.ts';
import { GivenUp } from '../../../src/policy/checkpoint.ts';

test('a decision is given up when its time is over, and not before', () => {
  let now = 0;
  const checkpoint = mainThreadBudget(20, () => now);
  const readMany = () => {
    for (let text = 0; text < 1_000; text += 1) checkpoint();
  };

  expect(readMany).not.toThrow();
  now = 19;
  expect(readMany).not.toThrow();
  now = 21;
  expect(readMany).toThrow(GivenUp);
});

test('after a text of some length the clock is read at once', () => {
  let now = 0;
  const checkpoint = mainThreadBudget(20, () => now);
  now = 21;

  expect(() => checkpoint(8_000)).toThrow(GivenUp);
});

test('a long text is not begun', () => {
  const checkpoint = mainThreadBudget(20, () => 0);

  expect(() => checkpoint(40_000)).not.toThrow();
  expect(() => checkpoint(100_000)).toThrow(GivenUp);
});
