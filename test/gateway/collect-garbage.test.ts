import { syncBuiltinESMExports } from 'node:module';
import v8 from 'node:v8';
import { expect, onTestFinished, test } from 'vitest';
import { collectGarbage } from '../../src/gateway/collect-garbage.ts';

test('collects what nothing refers to', async () => {
  const forgotten = () => new WeakRef({ text: 'x'.repeat(1_000) });
  const seen = forgotten();
  await new Promise(setImmediate); // a reference that was just made is kept for its turn

  collectGarbage();

  expect(seen.deref()).toBeUndefined();
});

test('what is young is collected with the bodies that it held', async () => {
  const bodyMegabytes = () => process.memoryUsage().arrayBuffers / 1_048_576;
  const forget = () => Array.from({ length: 20 }, () => Buffer.alloc(1_048_576)).length;
  forget();
  await new Promise(setImmediate);
  const before = bodyMegabytes();

  // Buffers are freed in another thread; the next collection waits for that.
  collectGarbage('young');
  collectGarbage('young');

  expect(before - bodyMegabytes()).toBeGreaterThan(15);
});

test('fails nothing where another thread has just taken the flag back', () => {
  const { setFlagsFromString } = v8;
  let sets = 0;
  const give = (set: typeof setFlagsFromString) => {
    v8.setFlagsFromString = set;
    syncBuiltinESMExports();
  };
  onTestFinished(() => give(setFlagsFromString));
  give(() => {
    sets += 1;
    setFlagsFromString('--no-expose-gc');
  });

  collectGarbage();

  expect(sets).toBe(2);
});
