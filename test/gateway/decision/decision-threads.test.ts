import { afterEach, expect, test } from 'vitest';
import { GatewayError } from '../../../src/errors.ts';
import { DecisionThreads } from '../../../src/gateway/decision/decider.ts';
import { Lifetime } from '../../../src/lib/lifetime.ts';

const holdingEntry = new URL('../../fixtures/threads/holding-worker.mjs', import.meta.url);
const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Asks as a key; a question that says "hold" is never answered. Gives what the outcome is, once there is one. */
function started() {
  const data = { source: { policies: {}, secrets: [] }, models: [], providers: [] };
  const threads = new DecisionThreads(data, holdingEntry);
  closing.push(() => threads.end());
  const answered: string[] = [];
  const ask = async (key: string, text: string, lifetime = new Lifetime()) => {
    const input = { body: Buffer.from(text), policies: [] } as never; // the fixture looks at nothing else
    try {
      await threads.ask({ kind: 'request', input }, { key, memory: [], lifetime });
      answered.push(`${key} ${text}`);
    } catch (thrown) {
      answered.push(`${key} ${text}: ${thrown instanceof GatewayError ? thrown.code : thrown}`);
    }
  };
  return { threads, ask, answered };
}

test("a key's question that takes for ever holds up its own, and no other key's", async () => {
  const { ask, answered } = started();

  void ask('one', 'hold');
  void ask('one', 'behind it');
  await ask('other', 'a');
  await ask('other', 'b');

  expect(answered).toEqual(['other a', 'other b']);
});

test('keys take turns, however many questions one of them has', async () => {
  const { ask, answered } = started();
  for (const key of ['w', 'x', 'y']) void ask(key, 'hold');

  // One thread is left for these.
  const all = [ask('one', 'a'), ask('one', 'b'), ask('one', 'c'), ask('other', 'a')];
  await Promise.all(all);

  expect(answered.indexOf('other a')).toBeLessThan(answered.indexOf('one b'));
});

test('a key whose client has left is served again when its question ends, and what waits is forgotten', async () => {
  const { threads, ask, answered } = started();
  const lifetime = new Lifetime();
  void ask('one', 'hold');
  const waiting = ask('one', 'behind it', lifetime);

  lifetime.end(new GatewayError('client.left', 'the client left'));
  await waiting;
  await threads.end();

  await expect.poll(() => answered).toEqual(['one behind it: client.left', 'one hold: policy.error']);
});
