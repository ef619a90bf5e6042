import { expect, test } from 'vitest';
import { scale } from '../kit/scale.ts';
import { spend } from './lies/exchanges.ts';
import { lies } from './lies/lying-host.ts';

const exchanges = scale(150, 1_200);
const budgetFor = scale(20, 50);

test(`${exchanges} exchanges of every kind of lie, fault and abort never cost more than a budget for ${budgetFor}`, async () => {
  const { tokens, budget, answered, refused } = await spend({
    lies: lies.map((_, number) => number),
    exchanges,
    budgetFor,
    seed: 1,
  });

  expect(tokens).toBeGreaterThan(0);
  expect(tokens).toBeLessThanOrEqual(budget);
  expect(answered + refused).toBe(exchanges);
  expect(refused).toBeGreaterThan(0);
}, 300_000);
