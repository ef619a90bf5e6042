import { expect, test } from 'vitest';
import { scale } from '../kit/scale.ts';
import { spend } from './lies/exchanges.ts';
import { lies } from './lies/lying-host.ts';

test.each(lies.map(({ name }, number) => [name, number] as const))(
  '%s alone never costs more than a budget',
  async (_name, number) => {
    const spent = await spend({ lies: [number], exchanges: scale(24, 40), budgetFor: scale(6, 10), seed: 3 });

    expect(spent.tokens).toBeLessThanOrEqual(spent.budget);
  },
  60_000,
);
