import { expect, test } from 'vitest';
import { chatAnswer, json } from '../kit/answers.ts';
import { post, startGateway } from '../kit/gateway.ts';
import { startHost } from '../kit/host.ts';

// What OpenAI has besides /v1/responses for the same bodies: the size of one, and its history in a shorter form.
const compacted = JSON.stringify({
  id: 'resp_1',
  object: 'response.compaction',
  created_at: 1,
  output: [{ type: 'compaction', id: 'cmp_1', encrypted_content: 'sealed' }],
  usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
});
const host = await startHost(json(compacted));
const other = await startHost(json(chatAnswer));

const config = (limits: string) => `
providers:
  host: { dialect: openai, base_url: "${host.url}/v1", endpoints: [chat, responses, count_tokens] }
  chat-only: { dialect: openai, base_url: "${other.url}/v1", endpoints: [chat] }
models:
  - { match: m, provider: host, model: theirs, pricing: { input: 1, output: 2 }, max_output_tokens: 100 }
  - { match: c, provider: chat-only }
policies:
  house:
    apply: all
    rules: [{ id: words, action: block, when: { text: { phrases: ["forbidden words"] } } }]
projects:
  shop:
    limits: ${limits}
    keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }]
`;

const gateway = await startGateway(config('{ tokens_per_day: 1000000 }'));
const compact = '/v1/responses/compact';
const count = '/v1/responses/input_tokens';
const asked = (model: string, text = 'hi') => ({ model, input: [{ role: 'user', content: text }] });

test('a history is compacted by its own host, counted and recorded', async () => {
  host.script(json(compacted));

  const answer = await post(gateway, compact, asked('m'));

  expect(await answer.text()).toBe(compacted);
  const sent = host.requests.at(-1);
  expect(sent?.target).toBe(compact);
  expect(JSON.parse(String(sent?.body))).toEqual(asked('theirs'));
  const [, id] = [...answer.headers].find(([name]) => name === 'x-request-id') ?? [];
  const record = await gateway.recordWhere(({ request_id }) => request_id === id);
  expect(record).toMatchObject({ path: compact, outcome: 'answered', cost_usd: 0.000011 });
});

test('tokens are counted by the host that can, and cost nothing', async () => {
  host.script(json('{"object":"response.input_tokens","input_tokens":11}'));

  const answer = await post(gateway, count, asked('m'));

  expect(await answer.json()).toEqual({ object: 'response.input_tokens', input_tokens: 11 });
  expect(answer.headers.get('x-gateway-estimate')).toBe(null);
  expect(host.requests.at(-1)?.target).toBe(count);
});

test('a host without such a path: tokens are estimated, nothing is compacted', async () => {
  const before = other.requests.length;

  const counted = await post(gateway, count, asked('c'));
  const refused = await post(gateway, compact, asked('c'));

  expect(await counted.json()).toEqual({ object: 'response.input_tokens', input_tokens: 7 });
  expect(counted.headers.get('x-gateway-estimate')).toBe('true');
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({ error: { reason: 'request.unsupported' } });
  expect(other.requests.length).toBe(before);
});

test.each([compact, count])('rules hold at %s', async (path) => {
  const before = host.requests.length;

  const answer = await post(gateway, path, asked('m', 'these are forbidden words'));

  expect(answer.status).toBe(403);
  expect(host.requests.length).toBe(before);
});

test('a budget holds for compacting', async () => {
  const poor = await startGateway(config('{ tokens_per_day: 50 }'));
  const before = host.requests.length;

  const answer = await post(poor, compact, asked('m'));

  expect(answer.status).toBe(429);
  expect(host.requests.length).toBe(before);
});
