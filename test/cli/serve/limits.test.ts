import { afterAll, describe, expect, test } from 'vitest';
import { chatAnswer } from '../../kit/answers.ts';
import { hasRedis, startRedis, type TestRedis } from '../../kit/redis.ts';
import { ask, type Gateway, host, serve } from './workers/serving.ts';

// What the scripted host says of its usage: prompt 5, completion 3.
const body = { model: 'gpt-test', messages: [{ role: 'user', content: 'hi' }], max_tokens: 100 };
const worst = Math.ceil(JSON.stringify(body).length / 3) + 100;

function limited(url: string, { workers, state }: { workers: number; state: string }): string {
  return `
server: { workers: ${workers} }
state: ${state}
providers: { gpt: { dialect: openai, base_url: "${url}/v1" } }
models: [{ match: "gpt-*", provider: gpt }]
projects:
  shop:
    limits: { tokens_per_day: ${worst * 50} }
    keys: [{ id: shop-web, value: "\${SHOP_KEY}" }]
`;
}

const key = 'a-project-key-for-limits';

/** A host that answers slowly, so that all requests are open at once, and that says that all was used up. */
function greedyHost() {
  return host((response) => {
    setTimeout(() => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const usage = { prompt_tokens: worst - 100, completion_tokens: 100, total_tokens: worst };
      response.end(JSON.stringify({ ...(JSON.parse(chatAnswer) as object), usage }));
    }, 50);
  });
}

async function burst(gateways: readonly Gateway[]): Promise<number> {
  const answers = await Promise.all(
    Array.from({ length: 400 }, (_, i) => ask(gateways[i % gateways.length] as Gateway, body)),
  );
  const statuses = answers.map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
  return statuses.filter((status) => status === 200).length;
}

test('two workers let exactly 50 of 400 requests at once through a budget for 50', async () => {
  const { url } = await greedyHost();
  const gateway = await serve(limited(url, { workers: 2, state: 'memory' }), [], { SHOP_KEY: key });

  expect(await burst([{ ...gateway, key }])).toBe(50);
});

describe.skipIf(!hasRedis)('with Redis', () => {
  let redis: TestRedis | undefined;
  afterAll(() => redis?.stop());

  test('two gateways on one Redis let exactly 50 of 400 requests at once through', async () => {
    redis = await startRedis();
    const { url } = await greedyHost();
    const yaml = limited(url, { workers: 1, state: redis.url });
    const gateways = [await serve(yaml, [], { SHOP_KEY: key }), await serve(yaml, [], { SHOP_KEY: key })];

    expect(await burst(gateways.map((gateway) => ({ ...gateway, key })))).toBe(50);
  });
});
