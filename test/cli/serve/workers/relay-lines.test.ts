import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { relayLines } from '../../../../src/server/workers/spawn-worker.ts';

test('passes on whole lines only, and at the end what is left as a line', async () => {
  const from = new PassThrough();
  const written: string[] = [];
  relayLines(from, (text) => written.push(text));
  const grin = Buffer.from('👋');

  for (const chunk of ['on', 'e\ntwo\nth', grin.subarray(0, 2), grin.subarray(2), '\nlast'])
    from.write(chunk);
  from.end();
  await once(from, 'end');

  expect(written).toEqual(['one\ntwo\n', 'th👋\n', 'last\n']);
});
