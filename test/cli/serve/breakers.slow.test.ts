import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { chatAnswer, requestFor } from '../../kit/answers.ts';
import { hasRedis, startRedis } from '../../kit/redis.ts';
import { ask, askAlone, host, serve } from './workers/serving.ts';

/** A host that fails until it is mended; counts what reaches it. */
async function failingHost() {
  const state = { isBroken: true, requests: 0 };
  const { url } = await host((response) => {
    state.requests += 1;
    response.writeHead(state.isBroken ? 500 : 200, { 'content-type': 'application/json' });
    response.end(state.isBroken ? '{"error":{"message":"no"}}' : chatAnswer);
  });
  return { url, state };
}

// Many, so that the second one does not find out by itself while the news of the first is on its way.
const failures = 20;
const config = (url: string, more: string, open = '5s') => `
${more}
providers: { gpt: { dialect: openai, base_url: "${url}/v1", breaker: { failures: ${failures}, open: ${open} } } }
models: [{ match: "gpt-*", provider: gpt }]
`;
const request = (model = 'gpt-test') => requestFor('chat', model);

test('what one of two workers has found out, the other knows', async () => {
  const { url, state } = await failingHost();
  const gateway = await serve(config(url, 'server: { workers: 2 }'));
  // On one kept connection, and so at one worker.
  for (let i = 0; i < failures; i += 1) expect((await ask(gateway, request())).status).toBe(500);

  await expect.poll(async () => (await askAlone(gateway)).status, { interval: 100 }).toBe(503);
  const others = await Promise.all(Array.from({ length: 8 }, () => askAlone(gateway)));
  expect(others.map(({ status }) => status)).toEqual(Array(8).fill(503));
  expect(state.requests).toBeLessThan(2 * failures);
  expect((await askAlone(gateway, 'gpt-other')).status).toBe(500);

  state.isBroken = false;
  await expect.poll(async () => (await askAlone(gateway)).status).toBe(200);
  const healed = await Promise.all(Array.from({ length: 8 }, () => askAlone(gateway)));
  expect(healed.map(({ status }) => status)).toEqual(Array(8).fill(200));
}, 60_000);

test.skipIf(!hasRedis)(
  'what one gateway has found out, others at its Redis know, also those that start later, whatever else is said there',
  async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const { url, state } = await failingHost();
    const yaml = config(url.replace('127.0.0.1', 'localhost'), `state: ${redis.url}`, '60s');
    const [one, two] = [await serve(yaml), await serve(yaml)] as const;
    const client = new Redis(redis.url);
    for (const rubbish of [
      '',
      '{',
      '[]',
      'null',
      '{"change":{"provider":7,"isOpen":true}}',
      '{"change":"x"}',
    ]) {
      await client.publish('{gateway}:breakers@0', rubbish);
    }
    await client.set('{gateway}:breakers:rubbish', '{"change":{"provider":7}}');

    for (let i = 0; i < failures; i += 1) expect((await ask(one, request())).status).toBe(500);
    let last: Response | undefined;
    const statusOfTwo = async () => {
      last = await ask(two, request());
      return last.status;
    };
    await expect.poll(statusOfTwo, { interval: 100 }).toBe(503);
    expect(Number(last?.headers.get('retry-after'))).toBeGreaterThan(0);
    const reached = state.requests;
    expect(reached).toBeLessThan(2 * failures);

    await expect.poll(() => client.keys('{gateway}:breakers:*')).toHaveLength(2);
    client.disconnect();
    const three = await serve(yaml);
    expect((await ask(three, request())).status).toBe(503);
    expect((await ask(three, request('gpt-other'))).status).toBe(500);
    expect(state.requests).toBe(reached + 1);
  },
  60_000,
);
