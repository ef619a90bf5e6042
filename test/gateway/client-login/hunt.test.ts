import { expect, test } from 'vitest';
import { huntLogins } from './hunt.ts';

// The whole hunt is in hunt.slow.test.ts.
test('no login is where it does not belong', async () => {
  const { sent, delivered, found } = await huntLogins(120);

  expect(found).toEqual([]);
  expect(delivered).toBeGreaterThan(sent / 20);
}, 60_000);
