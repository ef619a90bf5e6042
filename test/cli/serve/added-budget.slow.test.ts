import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openSqliteReader } from '../../../src/database/sqlite-engine.ts';
import { hasRedis, startRedis, type TestRedis } from '../../kit/redis.ts';
import { ask, configure, type Gateway, host, serve } from './workers/serving.ts';

// A budget that a reload adds has what was used before it: the ledger knows that.
const key = 'a-project-key-for-added-budgets';
const body = { model: 'gpt-test', messages: [{ role: 'user', content: 'hi' }], max_tokens: 100 };
const worst = Math.ceil(JSON.stringify(body).length / 3) + 100;
const usage = { prompt_tokens: worst - 100, completion_tokens: 100, total_tokens: worst };
const answer = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-test',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage,
});

let redis: TestRedis | undefined;
afterAll(() => redis?.stop());

async function ask200(gateway: Gateway, count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    const response = await ask(gateway, body);
    expect(response.status).toBe(200);
    await response.text();
  }
}

/** Waits for the rows, which nothing else does: a budget must find what was used, not what it may have. */
async function settled(home: string, rows: number): Promise<void> {
  const read = async () => {
    const engine = await openSqliteReader(join(home, '.local/state/gateway/ledger.sqlite'));
    const [row] = engine.prepare('select sum(requests) as rows from sums').all() as [{ rows: number }];
    engine.close();
    return row.rows;
  };
  await expect.poll(read, { timeout: 20_000 }).toBe(rows);
}

async function statuses(gateway: Gateway, count: number): Promise<readonly number[]> {
  const seen: number[] = [];
  while (seen.length < count) {
    const response = await ask(gateway, body);
    await response.text();
    if (response.status !== 503) seen.push(response.status); // a disk that takes too long on a busy machine
  }
  return seen;
}

test.each([
  { name: 'one process', workers: 1, isShared: false },
  { name: 'two workers', workers: 2, isShared: false },
  ...(hasRedis ? [{ name: 'Redis', workers: 1, isShared: true }] : []),
])(
  'counted in $name, and again after it was removed',
  async ({ workers, isShared }) => {
    if (isShared) redis ??= await startRedis();
    const { url } = await host((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(answer);
    });
    const yaml = (limits: string) => `
server: { workers: ${workers} }
state: ${isShared ? redis?.url : 'memory'}
providers: { gpt: { dialect: openai, base_url: "${url}/v1" } }
models: [{ match: "gpt-*", provider: gpt }]
projects: { shop: { ${limits} keys: [{ id: shop-web, value: "\${SHOP_KEY}" }] } }
`;
    const budgetFor = (requests: number) => `limits: { tokens_per_day: ${worst * requests} },`;
    const gateway = { ...(await serve(yaml(''), [], { SHOP_KEY: key })), key };
    const reload = async (limits: string) => {
      const before = gateway.child.text('stderr').split('configuration reloaded').length;
      configure(gateway.home, yaml(limits));
      const count = () => gateway.child.text('stderr').split('configuration reloaded').length;
      await expect.poll(count, { timeout: 20_000 }).toBeGreaterThan(before);
    };
    await ask200(gateway, 4);
    await settled(gateway.home, 4);

    await reload(budgetFor(6));
    expect(await statuses(gateway, 4)).toEqual([200, 200, 429, 429]);
    await settled(gateway.home, 6);
    await reload('');
    await ask200(gateway, 3);
    await settled(gateway.home, 9);
    await reload(budgetFor(10));

    expect(await statuses(gateway, 3)).toEqual([200, 429, 429]);
  },
  120_000,
);
