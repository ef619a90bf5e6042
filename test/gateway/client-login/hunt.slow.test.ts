import { expect, test } from 'vitest';
import { huntLogins } from './hunt.ts';

test('no login of 2,000 is where it does not belong', async () => {
  const { sent, delivered, found } = await huntLogins(2_000, 7);

  expect(found).toEqual([]);
  expect(delivered).toBeGreaterThan(sent / 20);
}, 600_000);
