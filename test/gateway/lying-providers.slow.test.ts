import { expect, test } from 'vitest';
import { scale } from '../kit/scale.ts';
import { spend } from './lies/exchanges.ts';
import { lies } from './lies/lying-host.ts';

const exchanges = scale(400, 1_200);

test(`${exchanges} exchanges never cost more than a budget for 50, with a gateway that is reloaded, ended and killed ${exchanges / 50} times in between`, async () => {
  const spent = await spend({
    lies: lies.map((_, number) => number),
    exchanges,
    budgetFor: 50,
    seed: 4,
    disturbedEvery: 50,
  });

  expect(spent.tokens).toBeGreaterThan(0);
  expect(spent.tokens).toBeLessThanOrEqual(spent.budget);
  expect(spent.refused).toBeGreaterThan(0);
}, 300_000);

test.each(lies.map(({ name }, number) => [name, number] as const))(
  '%s alone never costs more than a budget either',
  async (_name, number) => {
    const spent = await spend({ lies: [number], exchanges: scale(24, 40), budgetFor: scale(6, 10), seed: 3 });

    expect(spent.tokens).toBeLessThanOrEqual(spent.budget);
  },
  60_000,
);
