import { expect, test } from 'vitest';
import { Breaker } from '../../src/providers/health.ts';

const options = { failures: 3, openMs: 1_000 };

function broken(atMs = 0): Breaker {
  const breaker = new Breaker(options);
  for (let i = 0; i < 3; i += 1) breaker.failed(atMs);
  return breaker;
}

test('opens at the last of so many failures in a row', () => {
  const breaker = new Breaker(options);
  breaker.failed(0);
  breaker.failed(0);
  expect([breaker.isOpen, breaker.waitMs(0)]).toEqual([false, 0]);

  breaker.failed(0);

  expect([breaker.isOpen, breaker.waitMs(0), breaker.waitMs(400)]).toEqual([true, 1_000, 600]);
});

test('a success in between resets the count', () => {
  const breaker = new Breaker(options);
  breaker.failed(0);
  breaker.failed(0);
  breaker.succeeded();
  breaker.failed(0);
  breaker.failed(0);

  expect(breaker.isOpen).toBe(false);
});

test('lets one probe through when the time is over', () => {
  const breaker = broken();

  expect(breaker.waitMs(1_000)).toBe(0);
  breaker.admit();
  expect(breaker.waitMs(1_001)).toBe(1_000);
});

test('a probe that succeeds closes it, one that fails opens it for the whole time', () => {
  const [one, other] = [broken(), broken()];
  one.admit();
  one.succeeded();
  other.admit();
  other.failed(1_500);

  expect([one.isOpen, one.waitMs(1_500)]).toEqual([false, 0]);
  expect([other.isOpen, other.waitMs(1_500), other.waitMs(2_500)]).toEqual([true, 1_000, 0]);
});

test('an inconclusive probe lets the next one through', () => {
  const breaker = broken();
  breaker.admit();

  breaker.abstained();

  expect([breaker.isOpen, breaker.waitMs(1_000)]).toEqual([true, 0]);
});
