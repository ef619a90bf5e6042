import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { beforeEach, describe, expect, test } from 'vitest';
import type { ExchangeRecord } from '../../src/record/record.ts';
import { chatAnswer, json } from '../kit/answers.ts';
import { anthropicClient, openaiClient, post, startGateway, type TestGateway } from '../kit/gateway.ts';
import { startHost } from '../kit/host.ts';

const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
const answer = json(JSON.stringify({ ...JSON.parse(chatAnswer), usage }), 200, {
  'x-ratelimit-limit-requests': '99999',
});
// One exchange costs 10 × 1 + 10 × 2 US$ per million: 30 micro US$, and at most 27 × 1 + 100 × 2 are reserved.
const pricing = 'pricing: { input: 1, output: 2 }';

const host = await startHost(answer);
/** The same host by an address that is not known to be this machine. */
const elsewhere = host.url.replace('127.0.0.1', '0.0.0.0');

function config(limits: string): string {
  return `
providers:
  host: { dialect: openai, base_url: ${host.url}/v1, api_key: "\${PROVIDER_KEY}", endpoints: [chat] }
  elsewhere: { dialect: openai, base_url: ${elsewhere}/v1, endpoints: [chat] }
models: [{ match: m, provider: host, ${pricing}, max_output_tokens: 100 }, { match: unknown, provider: elsewhere }, { match: local, provider: host }, { match: gpt-4o, provider: host }]
projects:
  shop:
    limits: ${limits}
    keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }]
`;
}

const body = { model: 'm', messages: [{ role: 'user' as const, content: 'hi' }], max_tokens: 100 };

describe('limits of a project', () => {
  beforeEach(() => host.script(answer));

  const start = (limits: string) => startGateway(config(limits));
  const chat = (gateway: TestGateway, more: object = {}) =>
    post(gateway, '/v1/chat/completions', { ...body, ...more });

  test("sends the state of its own limits with every answer, not that of the provider's", async () => {
    const gateway = await start('{ requests_per_minute: 2, tokens_per_minute: 100000 }');

    const { headers } = await chat(gateway);

    expect(headers.get('x-ratelimit-limit-requests')).toBe('2');
    expect(headers.get('x-ratelimit-remaining-requests')).toBe('1');
    expect(headers.get('x-ratelimit-limit-tokens')).toBe('100000');
    expect(headers.get('x-ratelimit-reset-requests')).toMatch(/^6[01]s$/);
  });

  test("a refusal is the SDKs' RateLimitError, with the wait and the limits of each dialect", async () => {
    const gateway = await start('{ requests_per_minute: 1 }');
    await chat(gateway);
    const refusalOf = (asked: Promise<unknown>) => asked.catch((error: unknown) => error);

    const ofOpenAi = await refusalOf(openaiClient(gateway).chat.completions.create(body));
    const ofAnthropic = await refusalOf(anthropicClient(gateway).messages.create(body));

    if (!(ofOpenAi instanceof OpenAI.RateLimitError)) throw ofOpenAi;
    if (!(ofAnthropic instanceof Anthropic.RateLimitError)) throw ofAnthropic;
    expect(ofOpenAi.headers?.get('retry-after')).toMatch(/^(?:[1-5]?\d|6[01])$/);
    expect(ofAnthropic.headers?.get('anthropic-ratelimit-requests-remaining')).toBe('0');
    expect(ofAnthropic.headers?.get('x-should-retry')).toBe(null);
  });

  const dear = { model: 'gpt-4o', service_tier: 'priority' };
  const usd = '{ usd_per_day: 1 }';
  const lenient = '{ usd_per_day: 1, unpriced: allow }';

  // biome-ignore format: a case a line
  test.each([
    ['of a spent budget', '{ usd_per_day: 0.00024 }', [{}, {}], [200, 429], ''],
    ['of a model without a price', usd, [{ model: 'unknown' }], [429], 'no price is known for unknown'],
    ['of one that is allowed by name', lenient, [{ model: 'unknown' }], [200], ''],
    ['of a model on this machine, which is free', usd, [{ model: 'local', service_tier: 'priority' }], [200], ''],
    ['of a mode that costs more than the known price', usd, [dear], [429], 'no price is known for gpt-4o with service_tier'],
    ['of a mode of a model whose price is configured', usd, [{ ...dear, model: 'm' }], [200], ''],
    ['of a mode that is allowed by name', lenient, [dear], [200], ''],
    ['of several answers, in what hosts take for a number', '{ tokens_per_day: 250 }', [{ n: 3 }, { n: '3' }, { n: ' 3.0 ' }], [429, 429, 429], 'this request alone may need'],
    ['of a limit that is monitored', '{ requests_per_minute: 1, mode: monitor }', [{}, {}], [200, 200], ''],
  ])('requests %s under %s', async (_what, limits, requests, statuses, said) => {
    const gateway = await start(limits);

    const answers: Response[] = [];
    for (const request of requests) answers.push(await chat(gateway, request));

    expect(answers.map(({ status }) => status)).toEqual(statuses);
    const isRetryable = answers.map(({ headers }) => headers.get('x-should-retry'));
    expect(isRetryable).toEqual(statuses.map((status) => (status === 429 ? 'false' : null)));
    expect(await answers.at(-1)?.text()).toContain(said);
    const { would_limit } = (await gateway.recorded(requests.length)).at(-1) as ExchangeRecord;
    const isMonitored = limits.includes('monitor');
    expect(would_limit).toEqual(isMonitored ? ['project shop requests_per_minute'] : undefined);
  });

  test.each([1_000, 300_000, 1_500_000])('equal requests are those of the same %i bytes', async (bytes) => {
    const gateway = await start('{ repeated_requests: 1 }');

    const statuses: number[] = [];
    for (const letter of ['a', 'b', 'b']) {
      const messages = [{ role: 'user', content: letter.repeat(bytes) }];
      const answer = await chat(gateway, { messages });
      statuses.push(answer.status);
      await answer.text();
    }

    expect(statuses).toEqual([200, 200, 429]);
  });

  test.each([
    ['/v1/chat/completions', { ...body, max_tokens: 900 }, 'a max_tokens below 900 needs less'],
    ['/v1/chat/completions', { ...body, max_tokens: 300, n: 3 }, 'a max_tokens below 300 needs less'],
    ['/v1/responses', { model: 'm', input: 'hi' }, 'a max_output_tokens below 100 needs less'],
    [
      '/v1beta/models/m:generateContent',
      { contents: [{ parts: [{ text: 'hi' }] }], generationConfig: { maxOutputTokens: 900 } },
      'a generationConfig.maxOutputTokens below 900 needs less',
    ],
  ])('a refusal of %s says how to need less', async (path, request, advice) => {
    const gateway = await start('{ tokens_per_day: 50 }');

    const { error } = (await (await post(gateway, path, request)).json()) as { error: { message: string } };

    expect(error.message).toContain(
      'the limit of project shop is 50 tokens a day: this request alone may need ',
    );
    expect(error.message).toContain(advice);
  });

  test('content that a request only names counts as all that its model can read', async () => {
    const usage = { prompt_tokens: 1, completion_tokens: 1 };
    host.script(json(JSON.stringify({ ...JSON.parse(chatAnswer), usage })));
    const named = (file_id: string) => [{ role: 'user', content: [{ type: 'file', file: { file_id } }] }];
    const limited = config('{ tokens_per_day: 5000 }');
    const gateway = await startGateway(limited.replace(pricing, `${pricing}, context_window: 4000`));

    const known = await chat(gateway, { messages: named('file-1') });
    const refused = await chat(gateway, { model: 'local', messages: named('file-2') });
    const { error } = (await refused.json()) as { error: { message: string } };

    expect([refused.status, known.status]).toEqual([429, 200]);
    expect(error.message).toContain(
      "what it names and doesn't contain counts as all that the model can read",
    );
  });
});
