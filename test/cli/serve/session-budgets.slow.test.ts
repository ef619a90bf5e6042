import { expect, onTestFinished, test } from 'vitest';
import { speakAll } from '../../kit/answers.ts';
import { command, emptyDirectory } from '../../kit/command.ts';
import { hasRedis, startRedis } from '../../kit/redis.ts';
import {
  answering,
  ask,
  body,
  configure,
  type Gateway,
  host,
  keys,
  serve,
  serveIn,
  stop,
  withBudget,
} from './workers/serving.ts';

const session = { 'x-gateway-session': 'agent-1' };

async function outcomes(gateway: Gateway, count: number, headers: Record<string, string>): Promise<number[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const response = await ask(gateway, body, headers);
      await response.text();
      return response.status;
    }),
  );
}

const granted = (statuses: readonly number[]) => statuses.filter((status) => status === 200).length;

test.each([
  { workers: 1, shared: false },
  { workers: 2, shared: false },
  ...(hasRedis ? [{ workers: 2, shared: true }] : []),
])(
  '400 requests at once on a session for 50, a kill in between: never above, and others are served: %o',
  async ({ workers, shared }) => {
    const home = emptyDirectory();
    const redis = shared ? await startRedis() : undefined;
    const more = redis === undefined ? '' : `state: ${redis.url}`;
    configure(
      home,
      withBudget((await answering()).url, { limits: 'requests_per_session: 50', workers, more }),
    );
    const first = await serveIn(home);
    const before = await outcomes(first, 20, session);
    expect(granted(before)).toBe(20);
    await stop(first, 'SIGKILL');

    const second = await serveIn(home);
    const [after, other, nameless] = await Promise.all([
      outcomes(second, 400, session),
      outcomes(second, 20, { 'x-gateway-session': 'agent-2' }),
      outcomes(second, 20, {}),
    ]);

    expect(granted(after)).toBe(30);
    expect(new Set(after)).toEqual(new Set([200, 429]));
    expect([granted(other), granted(nameless)]).toEqual([20, 20]);
    await stop(second);
    await redis?.stop();
  },
  120_000,
);

test.each([
  { workers: 1, shared: false },
  { workers: 2, shared: false },
  ...(hasRedis ? [{ workers: 2, shared: true }] : []),
])(
  'the same bytes of one session pass 20 times a minute, whichever worker gets them: %o',
  async ({ workers, shared }) => {
    const home = emptyDirectory();
    const redis = shared ? await startRedis() : undefined;
    const more = redis === undefined ? '' : `state: ${redis.url}`;
    const limits = 'repeated_requests: 20';
    const host = await answering();
    configure(home, withBudget(host.url, { limits, workers, more }));
    const gateway = await serveIn(home);

    const [looping, other, nameless] = await Promise.all([
      outcomes(gateway, 60, session),
      outcomes(gateway, 20, { 'x-gateway-session': 'agent-2' }),
      outcomes(gateway, 20, {}),
    ]);
    const refused = await ask(gateway, body, session);
    const changed = await ask(gateway, { ...body, max_tokens: 99 }, session);

    expect([granted(looping), granted(other), granted(nameless)]).toEqual([20, 20, 20]);
    expect(refused.headers.get('x-should-retry')).toBe('false');
    expect(await refused.json()).toMatchObject({
      error: {
        reason: 'limit.repeated',
        message: expect.stringMatching(
          /^the limit of project shop is 20 equal requests a minute: this request of session agent-1 to gpt-test \(\d+ bytes\) came 20 times$/,
        ),
      },
    });
    expect(changed.status).toBe(200);
    await changed.text();
    await stop(gateway);
    await redis?.stop();
  },
  60_000,
);

test.skipIf(!hasRedis)(
  'while Redis is away a session is refused and others are served; once it is back, the session has what it had',
  async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const [limits, more] = ['requests_per_session: 5', `state: ${redis.url}`];
    const gateway = await serve(withBudget((await answering()).url, { limits, more }), [], keys);
    expect(granted(await outcomes(gateway, 3, session))).toBe(3);

    await redis.kill();
    const away = await outcomes(gateway, 1, session);
    const nameless = await outcomes(gateway, 1, {});
    await redis.start();
    const status = async () => (await outcomes(gateway, 1, session))[0];
    await expect.poll(status, { timeout: 20_000 }).toBe(200);

    expect([away, nameless]).toEqual([[503], [200]]);
    expect(granted(await outcomes(gateway, 10, session))).toBe(1);
    await stop(gateway);
  },
  60_000,
);

test('what a session has open at kill -9 stays counted in it', async () => {
  const home = emptyDirectory();
  const silent = await host(() => undefined);
  configure(home, withBudget(silent.url, { limits: 'requests_per_session: 5' }));
  const first = await serveIn(home);
  const open = Array.from({ length: 3 }, () => ask(first, body, session).catch(() => undefined));
  await expect.poll(() => silent.requests.length, { timeout: 10_000 }).toBe(3);
  await stop(first, 'SIGKILL');
  await Promise.all(open);

  silent.script(speakAll);
  const second = await serveIn(home);

  expect(granted(await outcomes(second, 10, session))).toBe(2);
  expect(granted(await outcomes(second, 5, { 'x-gateway-session': 'agent-2' }))).toBe(5);
  await stop(second);
}, 60_000);

test('a session at its budget is refused with what to do, and goes on once it is raised', async () => {
  const home = emptyDirectory();
  configure(home, withBudget((await answering()).url, { limits: 'usd_per_session: 0.0005' }));
  const gateway = await serveIn(home);
  // 220 micro US$ each, and at most 227 are reserved.
  expect(await outcomes(gateway, 1, session)).toEqual([200]);
  expect(await outcomes(gateway, 1, session)).toEqual([200]);
  const refused = await ask(gateway, body, session);
  expect(refused.status).toBe(429);
  expect(refused.headers.get('retry-after')).toBe(null);
  expect(await refused.text()).toContain('gateway sessions raise agent-1 N');

  const raised = await command('sessions raise agent-1 0.01', { cwd: home, env: keys });
  expect(raised).toMatchObject({ exit: 0, stderr: expect.stringContaining('may go on') });
  const status = async () => (await outcomes(gateway, 1, session))[0];
  await expect.poll(status, { timeout: 10_000 }).toBe(200);
  expect(new Set(await outcomes(gateway, 5, session))).toEqual(new Set([200]));
  await stop(gateway);
}, 60_000);
