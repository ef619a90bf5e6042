import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { PageThreads } from '../../../../src/server/inspector/page-threads.ts';

const broken = new URL('data:text/javascript,throw new Error("the file is gone")');

test('a thread that fails before its task comes ends nothing but itself', async () => {
  const threads = new PageThreads(broken);
  threads.prepare();
  // Started later, so that the other one has failed too.
  await once(new Worker(broken), 'error').catch(() => undefined);

  const query = { place: { kind: 'file', path: '' }, by: 'hour', sinceMs: 0, nowMs: 0 } as never;
  await expect(threads.run({ kind: 'history', query })).rejects.toMatchObject({ code: 'inspector.too_long' });
});
