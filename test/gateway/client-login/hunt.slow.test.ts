import { expect, test } from 'vitest';
import { huntLogins } from './hunt.ts';

test('no login of 5,000 is where it does not belong', async () => {
  const { sent, delivered, statuses, found } = await huntLogins(5_000, 7);

  console.log({ sent, delivered, statuses });
  expect(found).toEqual([]);
  expect(delivered).toBeGreaterThan(sent / 20);
}, 600_000);
