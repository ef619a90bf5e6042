import { afterEach, describe, expect, test, vi } from 'vitest';
import { GatewayError } from '../../src/errors.ts';
import { Lifetime } from '../../src/lib/lifetime.ts';
import { AnswerHeaders } from '../../src/providers/headers.ts';
import { RetryBudget, retryAfterMs, retryWaitMs, withRetryAfter } from '../../src/providers/retry.ts';

const now = Date.UTC(2026, 0, 1, 12, 0, 0);
const asked = (value: string) => new AnswerHeaders({ 'retry-after': value });

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
    expect(retryWaitMs(asked('10'), 1, 0, now)).toBe(10_000);
    expect(retryWaitMs(asked('10'), 1, 1, now)).toBe(11_000);
    expect(retryWaitMs(asked('60'), 1, 0, now)).toBe(60_000);
    expect(retryWaitMs(asked('61'), 1, 0, now)).toBeUndefined();
  });

  test('is that of retry-after-ms where a host sends both', () => {
    const both = (ms: string) => new AnswerHeaders({ 'retry-after': '10', 'retry-after-ms': ms });

    expect(retryWaitMs(both('300'), 1, 0, now)).toBe(300);
    expect(retryWaitMs(both('60001'), 1, 0, now)).toBeUndefined();
    expect(retryWaitMs(both('soon'), 1, 0, now)).toBe(10_000);
  });

  test('doubles with every try where nothing was asked, and is spread', () => {
    expect(retryWaitMs(undefined, 1, 0, now)).toBe(250);
    expect(retryWaitMs(undefined, 1, 1, now)).toBe(500);
    expect(retryWaitMs(undefined, 2, 1, now)).toBe(1_000);
    expect(retryWaitMs(asked('soon'), 1, 1, now)).toBe(500);
  });
});

describe('a refusal whose body never ends', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  function silent(headers: Record<string, string> = {}) {
    const abort = vi.fn();
    const refusal = {
      ...{ status: 429, headers: new AnswerHeaders(headers), isBehind: false },
      ...{ pipe: vi.fn(), resume: () => undefined, flush: () => undefined, abort },
    };
    return { refusal, abort };
  }

  test('is given up after five seconds, and is that status still', async () => {
    vi.useFakeTimers();
    const { refusal, abort } = silent();
    const reading = withRetryAfter(refusal, new Lifetime());

    await vi.advanceTimersByTimeAsync(4_900);
    expect(abort).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(200);

    expect(abort).toHaveBeenCalled();
    const [data, end] = [vi.fn(), vi.fn()];
    const { status, pipe } = await reading;
    pipe({ data, end, fail: vi.fn() });
    expect([status, String(data.mock.calls[0])]).toEqual([429, 'the provider did not finish its answer']);
    expect(end).toHaveBeenCalled();
  });

  test('ends with its exchange', async () => {
    const lifetime = new Lifetime();
    const reading = withRetryAfter(silent().refusal, lifetime);
    const left = new GatewayError('client.left', 'the client left');

    lifetime.end(left);

    await expect(reading).rejects.toBe(left);
  });

  test('is not read if its headers say how long to wait', async () => {
    const { refusal } = silent({ 'retry-after': '2' });

    expect(await withRetryAfter(refusal, new Lifetime())).toBe(refusal);
    expect(refusal.pipe).not.toHaveBeenCalled();
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
