import { expect, test } from 'vitest';
import { startProgram } from '../../../kit/child.ts';
import { serve } from './serving.ts';

test('several workers serve no live page, and whoever looks for it learns why', async () => {
  const gateway = await serve('server: { workers: 2 }');
  const page = await fetch(`${gateway.url}/_/`);
  const { error } = (await page.json()) as { error: { reason: string; message: string } };
  const opened = await startProgram(['open'], gateway.home, {}).ended;

  expect(gateway.workers).toHaveLength(2);
  expect([page.status, error.reason]).toEqual([404, 'endpoint.unknown']);
  expect(error.message).toMatch(/no live page.*server\.workers/);
  expect(opened.exit).not.toBe(0);
  expect(opened.stdout).toBe('');
  expect(opened.stderr).toMatch(/no live page.*server\.workers/s);
}, 60_000);
