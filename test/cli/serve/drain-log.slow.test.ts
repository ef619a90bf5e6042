import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { chatEvents, openStream, requestFor } from '../../kit/answers.ts';
import { command } from '../../kit/command.ts';
import { dailyTokensIn, hasRedis, startRedis } from '../../kit/redis.ts';
import { ask, type Gateway, host, isAlive, lines, serve, withHost } from './workers/serving.ts';

const key = 'project-key-0123456789';
const shop = (limits = '') => `
projects: { shop: { ${limits} keys: [{ id: web, value: "\${KEY}" }] } }
`;

async function start({ workers = 1, drain = '20s', more = shop() } = {}) {
  const open: (() => void)[] = [];
  const provider = await host((response, request) => {
    openStream(chatEvents.slice(0, 2))(response, request);
    open.push(() => response.end(chatEvents.slice(2).join('')));
  });
  const server = `workers: ${workers}, limits: { drain: ${drain} }`;
  const gateway = await serve(`${withHost(provider, server)}${more}`, [], { KEY: key });
  const streams = await Promise.all(
    [1, 2].map(() =>
      ask({ ...gateway, key }, requestFor('chat', 'gpt-test', { stream: true }), { connection: 'close' }),
    ),
  );
  return { gateway, streams, finish: () => open.splice(0).map((end) => end()) };
}

/** What came before the connection was cut, which Node 24 reports as an error of the body and Node 20 does not. */
async function textUntilCut({ body }: Response): Promise<string> {
  let text = '';
  try {
    for await (const piece of body as AsyncIterable<Uint8Array>) text += Buffer.from(piece).toString();
  } catch {}
  return text;
}

const messages = ({ child }: Gateway) =>
  lines(child).flatMap((line) => {
    const { msg } = JSON.parse(line) as { msg: string };
    return msg === 'exchange' ? [] : [msg];
  });

async function usageOf({ home }: Gateway): Promise<object[]> {
  return (await command('usage -o json', { cwd: home, env: { KEY: key } })).json;
}

describe.each([1, 2])('with %i processes', (workers) => {
  test('draining says for how many streams it waits, and that all is written', async () => {
    const { gateway, streams, finish } = await start({ workers });

    // As Ctrl-C does it: every process of the group gets the signal.
    for (const pid of [gateway.child.process.pid as number, ...(gateway.workers ?? [])])
      process.kill(pid, 'SIGINT');
    await gateway.child.wrote('stopping: waiting up to 20 s for 2 exchanges, 2 of them streams');
    finish();
    const texts = await Promise.all(streams.map((stream) => stream.text()));
    const { exit } = await gateway.child.ended;

    expect(texts.every((text) => text.includes('[DONE]'))).toBe(true);
    expect(exit).toBe(0);
    const log = messages(gateway);
    expect(log.at(-1)).toMatch(/^stopped after [\d.]+ s$/);
    if (workers === 1) expect(log).toContain('the ledger is flushed');
    for (const pid of gateway.workers ?? []) {
      expect(log).toContain(`worker ${pid} ended (exit code 0); its ledger is flushed`);
      expect(isAlive(pid)).toBe(false);
    }
    expect(existsSync(join(gateway.home, '.local/state/gateway/running.json'))).toBe(false);
    expect(await usageOf(gateway)).toMatchObject([{ requests: 2 }]);
  });

  test('what the time does not suffice for is named, cut, and settled; the exit code is 0', async () => {
    const { gateway, streams } = await start({ workers, drain: '1s' });

    gateway.child.process.kill('SIGTERM');
    const texts = await Promise.all(streams.map(textUntilCut));
    const { exit } = await gateway.child.ended;

    expect(texts.some((text) => text.includes('[DONE]'))).toBe(false);
    expect(texts.every((text) => text.includes('gateway.draining'))).toBe(true);
    expect(exit).toBe(0);
    expect(messages(gateway)).toContain('stopping: time is up, cutting 2 exchanges, 2 of them streams');
    expect(await usageOf(gateway)).toMatchObject([{ requests: 2 }]);
  });

  test('a second signal says what it cuts', async () => {
    const { gateway, streams } = await start({ workers });

    gateway.child.process.kill('SIGTERM');
    await gateway.child.wrote('stopping: waiting');
    gateway.child.process.kill('SIGTERM');
    const { exit } = await gateway.child.ended;

    expect(exit).toBe(143);
    expect(messages(gateway).at(-1)).toBe(
      'second signal: cutting 2 exchanges, 2 of them streams, which are in the ledger as estimates',
    );
    await Promise.all(streams.map((stream) => stream.text().catch(() => 'cut')));
    await expect.poll(() => (gateway.workers ?? []).filter(isAlive), { timeout: 10_000 }).toEqual([]);
    const [used] = (await usageOf(gateway)) as {
      requests: number;
      estimated: number;
      output_tokens: number;
    }[];
    expect(used).toMatchObject({ requests: 2, estimated: 2 });
    expect(used?.output_tokens).toBeGreaterThan(0);
  });
});

test.runIf(hasRedis)('reservations in Redis are settled before the end', async () => {
  const redis = await startRedis();
  const limits = 'limits: { tokens_per_day: 1000000, concurrent_requests: 9 },';
  const { gateway, streams } = await start({
    drain: '1s',
    more: `${shop(limits)}state: ${redis.url}\n`,
  });
  const { Redis } = await import('ioredis');
  const client = new Redis(redis.url);
  const level = '{gateway}:limits:project shop concurrent_requests';
  const [openBefore, reserved] = [await client.zcard(level), await dailyTokensIn(client, 'shop')];

  gateway.child.process.kill('SIGTERM');
  await Promise.all(streams.map(textUntilCut));
  await gateway.child.ended;

  expect(openBefore).toBe(2);
  expect(await client.zcard(level)).toBe(0);
  // The provider never reported a usage, so each costs what was reserved for it.
  expect(await dailyTokensIn(client, 'shop')).toBe(reserved);
  client.disconnect();
  await redis.stop();
});
