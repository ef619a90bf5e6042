import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../kit/gateway.ts';
import { type ScriptedHost, startHost } from '../kit/host.ts';

const answer = (content: string) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content, refusal: null },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 },
});
// One exchange costs 10 × 1 + 10 × 2 US$ per million: 30 micro US$, and at most 27 × 1 + 100 × 2 are reserved.
const pricing = 'pricing: { input: 1, output: 2 }';

function config(url: string, limits: string): string {
  return `
providers:
  host: { dialect: openai, base_url: ${url}/v1, api_key: "\${PROVIDER_KEY}", endpoints: [chat] }
models: [{ match: m, provider: host, ${pricing}, max_output_tokens: 100 }, { match: free, provider: host }]
projects:
  shop:
    limits: ${limits}
    keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }]
`;
}

const body = { model: 'm', messages: [{ role: 'user' as const, content: 'hi' }], max_tokens: 100 };

describe('limits of a project', () => {
  let host: ScriptedHost;
  const gateways: TestGateway[] = [];
  beforeAll(async () => {
    host = await startHost((response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'x-ratelimit-limit-requests': '99999' });
      response.end(JSON.stringify(answer('hello')));
    });
  });
  afterAll(async () => {
    for (const gateway of gateways) await gateway.stop();
    await host.close();
  });

  async function start(limits: string): Promise<{ gateway: TestGateway; openai: OpenAI }> {
    const gateway = await startGateway(config(host.url, limits));
    gateways.push(gateway);
    return {
      gateway,
      openai: new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 }),
    };
  }

  function post(gateway: TestGateway, value: unknown, path = '/v1/chat/completions'): Promise<Response> {
    return fetch(gateway.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.key}` },
      body: JSON.stringify(value),
    });
  }

  test('of 400 concurrent requests a budget for exactly 50 lets 50 through', async () => {
    // Each reserves 100 tokens of output and its own 79 bytes, and really uses them up: nothing is given back.
    const worst = Math.ceil(JSON.stringify(body).length / 3) + 100;
    host.script((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const usage = { prompt_tokens: worst - 100, completion_tokens: 100, total_tokens: worst };
      response.end(JSON.stringify({ ...answer('hello'), usage }));
    });
    const { gateway } = await start(`{ tokens_per_day: ${worst * 50} }`);

    const statuses = await Promise.all(
      Array.from({ length: 400 }, () => post(gateway, body).then((response) => response.status)),
    );

    expect(statuses.filter((status) => status === 200)).toHaveLength(50);
    expect(statuses.filter((status) => status === 429)).toHaveLength(350);
  });

  test("sends the state of its own limits with every answer, not that of the provider's", async () => {
    const { gateway } = await start('{ requests_per_minute: 2, tokens_per_minute: 100000 }');

    const { headers } = await post(gateway, body);

    expect(headers.get('x-ratelimit-limit-requests')).toBe('2');
    expect(headers.get('x-ratelimit-remaining-requests')).toBe('1');
    expect(headers.get('x-ratelimit-limit-tokens')).toBe('100000');
    expect(headers.get('x-ratelimit-reset-requests')).toMatch(/^6[01]s$/);
  });

  test("a refusal is the SDKs' RateLimitError, with the wait and the limits of each dialect", async () => {
    const { gateway, openai } = await start('{ requests_per_minute: 1 }');
    const anthropic = new Anthropic({ baseURL: gateway.url, apiKey: gateway.key, maxRetries: 0 });
    await openai.chat.completions.create(body);

    const ofOpenAi = await openai.chat.completions.create(body).catch((error: unknown) => error);
    const ofAnthropic = await anthropic.messages
      .create({ ...body, max_tokens: 100 })
      .catch((error: unknown) => error);

    expect(ofOpenAi).toBeInstanceOf(OpenAI.RateLimitError);
    const wait = (ofOpenAi as InstanceType<typeof OpenAI.RateLimitError>).headers?.get('retry-after');
    expect(wait).toMatch(/^(?:[1-5]?\d|6[01])$/);
    expect(ofAnthropic).toBeInstanceOf(Anthropic.RateLimitError);
    const { headers } = ofAnthropic as InstanceType<typeof Anthropic.RateLimitError>;
    expect(headers?.get('anthropic-ratelimit-requests-remaining')).toBe('0');
    expect(headers?.get('x-should-retry')).toBe(null);
  });

  test('a request that can never fit is not worth a retry, to no SDK and to no agent', async () => {
    const { gateway } = await start('{ tokens_per_minute: 50 }');
    const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 2 });

    const refused = await openai.chat.completions.create(body).catch((error: unknown) => error);
    const agent = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${gateway.key}`,
        'user-agent': 'opencode/1.18.33',
      },
      body: JSON.stringify(body),
    });
    await gateway.recorded(2);

    const { status, headers } = refused as InstanceType<typeof OpenAI.APIError>;
    expect([status, headers?.get('x-should-retry'), headers?.get('retry-after')]).toEqual([
      429,
      'false',
      null,
    ]);
    expect([agent.status, agent.headers.get('retry-after')]).toEqual([400, null]);
    expect(gateway.records).toHaveLength(2);
  });

  test('a spent budget is not retryable, and the record has the cost of an exchange', async () => {
    host.script((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer('hello')));
    });
    const { gateway } = await start('{ usd_per_day: 0.00024 }');
    const first = await post(gateway, body);
    const second = await post(gateway, body);

    const [record] = await gateway.recorded(2);

    expect([first.status, second.status]).toEqual([200, 429]);
    expect(second.headers.get('x-should-retry')).toBe('false');
    expect(record?.cost_usd).toBe(0.00003);
  });

  test('a model without a price is refused under a budget in US$, unless it is allowed by name', async () => {
    const { gateway } = await start('{ usd_per_day: 1 }');
    const { gateway: lenient } = await start('{ usd_per_day: 1, unpriced: allow }');

    const [refused, allowed] = [
      await post(gateway, { ...body, model: 'free' }),
      await post(lenient, { ...body, model: 'free' }),
    ];

    expect([refused.status, allowed.status]).toEqual([429, 200]);
    expect(await refused.text()).toContain('no price is known for free');
  });

  test('a mode that costs more than the known price is refused like a model without a price', async () => {
    const known = (limits: string) =>
      startGateway(config(host.url, limits).replace('match: free', 'match: gpt-4o'));
    const [strict, lenient] = [
      await known('{ usd_per_day: 1 }'),
      await known('{ usd_per_day: 1, unpriced: allow }'),
    ];
    gateways.push(strict, lenient);
    const dear = { ...body, model: 'gpt-4o', service_tier: 'priority' };
    const audio = {
      role: 'user',
      content: [{ type: 'input_audio', input_audio: { data: '', format: 'wav' } }],
    };
    const breakpoint = (ttl: string) => ({
      role: 'user',
      content: [{ type: 'text', text: 'hi', prompt_cache_breakpoint: { mode: 'explicit', ttl } }],
    });

    const refused = await post(strict, dear);
    const statuses = [
      await post(strict, { ...dear, speed: 'fast', service_tier: 'default' }),
      await post(strict, { ...dear, service_tier: ['priority'] }),
      await post(strict, { ...body, model: 'gpt-4o', inference_geo: 'us' }),
      await post(strict, { ...body, model: 'gpt-4o', inference_geo: 'global' }),
      await post(strict, { ...dear, service_tier: 'flex' }),
      await post(strict, { ...body, model: 'gpt-4o', prompt_cache_options: { ttl: '12h' } }),
      await post(strict, {
        ...body,
        model: 'gpt-4o',
        prompt_cache_options: { mode: 'explicit', ttl: '30m' },
      }),
      await post(strict, { ...body, model: 'gpt-4o', messages: [breakpoint('12h')] }),
      await post(strict, { ...body, model: 'gpt-4o', messages: [breakpoint('30m')] }),
      await post(strict, { ...body, model: 'gpt-4o', modalities: ['text', 'audio'] }),
      await post(strict, { ...body, model: 'gpt-4o', modalities: ['text'] }),
      await post(strict, { ...body, model: 'gpt-4o', messages: [audio] }),
      await post(strict, { ...body, model: 'gpt-4o', web_search_options: {} }),
      await post(strict, { ...body, model: 'gpt-4o', tools: [{ type: 'code_interpreter' }] }),
      await post(strict, {
        ...body,
        model: 'gpt-4o',
        tools: [{ type: 'function', function: { name: 'f' } }],
      }),
      await post(strict, { ...dear, model: 'm' }),
      await post(lenient, dear),
    ].map(({ status }) => status);

    expect(await refused.text()).toContain('no price is known for gpt-4o with service_tier');
    expect([refused.status, ...statuses]).toEqual([
      ...[429, 429, 429, 429, 200, 200],
      ...[429, 200, 429, 200],
      ...[429, 200, 429, 429, 429, 200],
      ...[200, 200],
    ]);
  });

  test.each([
    ['/v1/chat/completions', { ...body, max_tokens: 900 }, 'a max_tokens below 900 needs less'],
    ['/v1/chat/completions', { ...body, max_tokens: 300, n: 3 }, 'a max_tokens below 300 needs less'],
    ['/v1/responses', { model: 'm', input: 'hi' }, 'a max_output_tokens below 100 needs less'],
  ])('a refusal of %s says how to need less', async (path, request, advice) => {
    const { gateway } = await start('{ tokens_per_day: 50 }');

    const { error } = (await (await post(gateway, request, path)).json()) as { error: { message: string } };

    expect(error.message).toContain(
      'the limit of project shop is 50 tokens a day: this request alone may need ',
    );
    expect(error.message).toContain(advice);
  });

  test('content that a request only names counts as all that its model can read', async () => {
    host.script((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ ...answer('hello'), usage: { prompt_tokens: 1, completion_tokens: 1 } }));
    });
    const named = (id: string, model: string) => ({
      ...body,
      model,
      messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: id } }] }],
    });
    const limited = config(host.url, '{ tokens_per_day: 5000 }');
    const gateway = await startGateway(limited.replace(pricing, `${pricing}, context_window: 4000`));
    gateways.push(gateway);

    const known = await post(gateway, named('file-1', 'm'));
    const refused = await post(gateway, named('file-2', 'free'));
    const { error } = (await refused.json()) as { error: { message: string } };

    expect([refused.status, known.status]).toEqual([429, 200]);
    expect(error.message).toContain(
      "what it names and doesn't contain counts as all that the model can read",
    );
  });

  test('what the provider fails at costs nothing', async () => {
    host.script((response) => {
      response.writeHead(500, { 'content-type': 'application/json' });
      response.end('{"error":{"message":"no"}}');
    });
    const { gateway } = await start('{ tokens_per_day: 200 }');

    const statuses = [await post(gateway, body), await post(gateway, body)].map(({ status }) => status);

    expect(statuses).toEqual([500, 500]);
  });

  test('n answers are reserved n times', async () => {
    const { gateway } = await start('{ tokens_per_day: 250 }');

    // Hosts that convert what they read take the text for a number.
    const statuses = [
      await post(gateway, { ...body, n: 3 }),
      await post(gateway, { ...body, n: '3' }),
      await post(gateway, { ...body, n: ' 3.0 ' }),
    ].map(({ status }) => status);

    expect(statuses).toEqual([429, 429, 429]);
  });

  test('monitored limits refuse nothing and are recorded', async () => {
    host.script((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer('hello')));
    });
    const { gateway } = await start('{ requests_per_minute: 1, mode: monitor }');
    await post(gateway, body);

    const { status } = await post(gateway, body);
    const record = await gateway.recordWhere(({ would_limit }) => would_limit !== undefined);

    expect(status).toBe(200);
    expect(record.would_limit).toEqual(['project shop requests_per_minute']);
  });
});
