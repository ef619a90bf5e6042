import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  answering,
  configure,
  keys,
  serveIn,
  statuses,
  stop,
  withBudget,
} from '../cli/serve/workers/serving.ts';
import { makeAuthority } from '../kit/certificate.ts';
import { startProgram } from '../kit/child.ts';
import { emptyDirectory, homeWith } from '../kit/command.ts';
import { hasRedis, startRedis, type TestRedis } from '../kit/redis.ts';
import { hasStunnel, startStunnel } from '../kit/stunnel.ts';

// Redis as clouds sell it: behind TLS, with a certificate of an authority that is nobody else's. stunnel ends the TLS.

const authority = makeAuthority('private');
const trusting = { NODE_EXTRA_CA_CERTS: join(homeWith({ 'ca.pem': authority.cert }), 'ca.pem') };

describe.skipIf(!hasRedis || !hasStunnel)('Redis behind TLS of a private authority', () => {
  let redis: TestRedis;
  let plain = 0;
  let secure = 0;
  beforeAll(async () => {
    redis = await startRedis();
    plain = Number(new URL(redis.url).port);
    secure = await startStunnel({ before: `127.0.0.1:${plain}`, identity: authority.issue(['localhost']) });
  });
  afterAll(() => redis?.stop());

  const withState = async (state: string, workers = 1) => {
    const { url } = await answering();
    const home = emptyDirectory();
    configure(
      home,
      withBudget(url, { limits: 'requests_per_minute: 4', workers, more: `state: "${state}"` }),
    );
    return home;
  };
  const doctor = async (home: string, env: Record<string, string>) => {
    const { stdout } = await startProgram(['doctor'], home, { ...keys, ...env }).ended;
    return stdout.split('\n').find((line) => line.includes('\tredis\t'));
  };

  test.each([1, 2])('is trusted by NODE_EXTRA_CA_CERTS (workers: %i)', async (workers) => {
    const home = await withState(`rediss://localhost:${secure}/${workers}`, workers);
    const gateway = await serveIn(home, { env: { ...keys, ...trusting } });

    const seen = await statuses({ ...gateway, key: keys.SHOP_KEY }, 6);
    const found = await doctor(home, trusting);
    await stop(gateway);

    const client = new Redis(`${redis.url.slice(0, -1)}${workers}`);
    const counted = await client.keys('*').finally(() => client.disconnect());
    expect(seen).toEqual([200, 200, 200, 200, 429, 429]);
    expect(counted).toContainEqual(expect.stringContaining('requests_per_minute'));
    expect(found).toMatch(/^ok\tredis\tlocalhost:\d+ answers/);
  });

  test.each([
    [
      'an authority that is not trusted',
      () => `rediss://localhost:${secure}/0`,
      {},
      'its certificate is signed by an unknown authority\tset NODE_EXTRA_CA_CERTS',
    ],
    [
      'an address that the certificate is not for',
      () => `rediss://127.0.0.1:${secure}/0`,
      trusting,
      'its certificate is for another host\tcheck the host of state',
    ],
    [
      'a port without TLS',
      () => `rediss://localhost:${plain}/0`,
      trusting,
      'it does not answer in time\twrite redis:// in state, or check',
    ],
    [
      'a port that expects TLS',
      () => `redis://localhost:${secure}/0`,
      trusting,
      'it closes the connection without an answer\twrite rediss:// in state, or check',
    ],
  ])('%s is named by doctor', async (_what, state, env: Record<string, string>, said) => {
    expect(await doctor(await withState(state()), env)).toContain(said);
  });
});
