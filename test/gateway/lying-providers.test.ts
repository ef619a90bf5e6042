import { expect, test } from 'vitest';
import { spend } from './lies/exchanges.ts';
import { lies } from './lies/lying-host.ts';

test('150 exchanges of every kind of lie, fault and abort never cost more than a budget for 20', async () => {
  const { tokens, budget, answered, refused } = await spend({
    lies: lies.map((_, number) => number),
    exchanges: 150,
    budgetFor: 20,
    seed: 1,
  });

  expect(tokens).toBeGreaterThan(0);
  expect(tokens).toBeLessThanOrEqual(budget);
  expect(answered + refused).toBe(150);
  expect(refused).toBeGreaterThan(0);
}, 60_000);
