import { describe, expect, test } from 'vitest';
import { RetryBudget, retryAfterMs, retryWaitMs } from '../../src/providers/retry.ts';

const now = Date.UTC(2026, 0, 1, 12, 0, 0);

describe('Retry-After', () => {
  test.each([
    ['0', 0],
    ['7', 7_000],
    ['1.5', 1_500],
    [' 7 ', 7_000],
    ['Thu, 01 Jan 2026 12:00:30 GMT', 30_000],
    ['Thu, 01 Jan 2026 11:00:00 GMT', 0],
    ['-5', 0],
  ])('%j is %i ms', (value, ms) => {
    expect(retryAfterMs(value, now)).toBe(ms);
  });

  test.each(['', ' ', 'soon', 'Infinity', 'NaN', '0x10', '1e3', '12:00'])('%j is ignored', (value) => {
    expect(retryAfterMs(value, now)).toBeUndefined();
  });
});

describe('the wait before another try', () => {
  test('is what was asked and a little more, up to 60 s', () => {
    expect(retryWaitMs('10', 1, 0, now)).toBe(10_000);
    expect(retryWaitMs('10', 1, 1, now)).toBe(11_000);
    expect(retryWaitMs('60', 1, 0, now)).toBe(60_000);
    expect(retryWaitMs('61', 1, 0, now)).toBeUndefined();
  });

  test('doubles with every try where nothing was asked, and is spread', () => {
    expect(retryWaitMs(undefined, 1, 0, now)).toBe(250);
    expect(retryWaitMs(undefined, 1, 1, now)).toBe(500);
    expect(retryWaitMs(undefined, 2, 1, now)).toBe(1_000);
    expect(retryWaitMs('soon', 1, 1, now)).toBe(500);
  });
});

describe('the budget', () => {
  test('has ten to begin with, then as many as requests pay for', () => {
    const budget = new RetryBudget({ attempts: 2, budget: 0.25 });
    const take = () => Array.from({ length: 20 }, () => budget.take(1)).filter(Boolean).length;

    expect(take()).toBe(10);
    for (let i = 0; i < 3; i += 1) budget.noteRequest();
    expect(take()).toBe(0);
    for (let i = 0; i < 5; i += 1) budget.noteRequest();
    expect(take()).toBe(2);
  });

  test('is not saved up without end', () => {
    const budget = new RetryBudget({ attempts: 2, budget: 0.5 });
    for (let i = 0; i < 1_000; i += 1) budget.noteRequest();

    expect(Array.from({ length: 50 }, () => budget.take(1)).filter(Boolean)).toHaveLength(10);
  });

  test('has nothing for more tries than there may be', () => {
    expect(new RetryBudget({ attempts: 1, budget: 1 }).take(1)).toBe(false);
    const three = new RetryBudget({ attempts: 3, budget: 1 });
    expect([three.take(1), three.take(2), three.take(3)]).toEqual([true, true, false]);
  });
});
