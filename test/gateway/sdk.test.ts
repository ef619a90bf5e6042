import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { chatEvents, json, messagesEvents, openStream, responsesEvents } from '../kit/answers.ts';
import { twoHosts } from '../kit/config.ts';
import { anthropicClient, openaiClient } from '../kit/gateway.ts';
import { useGateway, useHosts } from '../kit/lifecycle.ts';

const weatherSchema = {
  type: 'object' as const,
  properties: {
    city: { type: 'string', minLength: 2 },
    unit: { type: 'string', enum: ['celsius', 'kelvin'] },
    days: { type: 'integer', minimum: 3, maximum: 5 },
  },
  required: ['city', 'unit', 'days'],
  additionalProperties: false,
};
const weather = { city: 'sandbox', unit: 'celsius', days: 3 };
const reply = 'The sandbox read: "hello". It works offline and always replies the same way.';
const hello = { role: 'user' as const, content: 'hello' };

const sandbox = useGateway();
/** Serves one model only; sandbox mode serves every name. */
const narrow = useGateway(
  'providers: { sandbox: { dialect: sandbox } }\nmodels: [{ match: sandbox-mini, provider: sandbox }]\n',
);

describe('the Anthropic SDK', () => {
  const create = { model: 'sandbox-mini', max_tokens: 200, messages: [hello] };
  const tool = { name: 'weather', input_schema: weatherSchema };

  test('gets a whole message, and which provider and model made it', async () => {
    const { data, response, request_id } = await anthropicClient(sandbox())
      .messages.create(create)
      .withResponse();

    expect(data.content).toEqual([{ type: 'text', text: reply }]);
    expect(data.usage.output_tokens).toBeGreaterThan(5);
    expect(request_id).toMatch(/^req_/);
    expect(response.headers.get('x-request-id')).toMatch(/^req_[0-9a-f]{30}$/);
    expect(response.headers.get('x-gateway-provider')).toBe('sandbox');
    expect(response.headers.get('x-gateway-model')).toBe('sandbox-mini');
    expect(response.headers.get('x-gateway-body')).toBe('exact');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('streams the same text with its helper', async () => {
    const stream = anthropicClient(sandbox()).messages.stream(create);
    const pieces: string[] = [];
    stream.on('text', (piece) => pieces.push(piece));

    const message = await stream.finalMessage();

    expect(pieces.join('')).toBe(reply);
    expect(pieces.length).toBeGreaterThan(3);
    expect(message.stop_reason).toBe('end_turn');
    expect(message.usage.output_tokens).toBeGreaterThan(5);
  });

  test('gets a forced tool call, plain and streamed', async () => {
    const forced = { ...create, tools: [tool], tool_choice: { type: 'tool' as const, name: 'weather' } };

    const plain = await anthropicClient(sandbox()).messages.create(forced);
    const streamed = await anthropicClient(sandbox()).messages.stream(forced).finalMessage();

    expect(plain.content).toMatchObject([{ type: 'tool_use', name: 'weather', input: weather }]);
    expect(streamed.content).toEqual(plain.content);
    expect(plain.stop_reason).toBe('tool_use');
  });

  test('goes through a free tool call to an answer', async () => {
    const free = { ...create, model: 'sandbox-tool', tools: [tool] };
    const asked = await anthropicClient(sandbox()).messages.create(free);
    const call = asked.content[0];
    if (call?.type !== 'tool_use') throw new Error('expected a tool call');

    const answer = await anthropicClient(sandbox()).messages.create({
      ...free,
      messages: [
        hello,
        { role: 'assistant', content: asked.content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: 'sunny' }] },
      ],
    });

    expect(answer.content).toEqual([
      { type: 'text', text: 'The tool answered: "sunny". Nothing else is needed.' },
    ]);
  });

  test('gets thinking before the text', async () => {
    const message = await anthropicClient(sandbox()).messages.create({
      ...create,
      model: 'sandbox-think',
      max_tokens: 2_000,
      thinking: { type: 'enabled', budget_tokens: 1_024 },
    });

    expect(message.content.map(({ type }) => type)).toEqual(['thinking', 'text']);
  });

  test('gets structured output that satisfies its schema', async () => {
    const message = await anthropicClient(sandbox()).messages.create({
      ...create,
      output_config: { format: { type: 'json_schema', schema: weatherSchema } },
    });
    const [block] = message.content;

    expect(block?.type === 'text' && JSON.parse(block.text)).toEqual(weather);
  });

  test('counts tokens where the provider can', async () => {
    const { data, response } = await anthropicClient(sandbox())
      .messages.countTokens({ model: 'sandbox-mini', messages: [hello] })
      .withResponse();

    expect(data.input_tokens).toBeGreaterThan(0);
    expect(response.headers.get('x-gateway-estimate')).toBeNull();
  });

  test('lists models and gets one', async () => {
    const client = anthropicClient(sandbox());

    const list = [];
    for await (const model of client.models.list({ limit: 4 })) list.push(model.id);
    const one = await client.models.retrieve('sandbox-mini');

    expect(list).toContain('sandbox-embed');
    expect(new Set(list).size).toBe(list.length);
    expect(one).toMatchObject({ id: 'sandbox-mini', type: 'model', display_name: 'sandbox-mini' });
    expect(one.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  });
});

describe('the OpenAI SDK', () => {
  const create = { model: 'sandbox-mini', messages: [hello] };
  const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: weatherSchema } }];

  test('gets a whole completion', async () => {
    const completion = await openaiClient(sandbox()).chat.completions.create(create);

    expect(completion.choices[0]?.message.content).toBe(reply);
    expect(completion.usage?.completion_tokens).toBeGreaterThan(5);
    expect(completion._request_id).toMatch(/^req_[0-9a-f]{30}$/);
  });

  test('streams the same text with its helper', async () => {
    const stream = openaiClient(sandbox()).chat.completions.stream({
      ...create,
      stream_options: { include_usage: true },
    });
    const pieces: string[] = [];
    stream.on('content', (piece) => pieces.push(piece));

    const completion = await stream.finalChatCompletion();

    expect(pieces.join('')).toBe(reply);
    expect(completion.usage?.completion_tokens).toBeGreaterThan(5);
  });

  test('gets a forced tool call, plain and streamed', async () => {
    const forced = { ...create, tools, tool_choice: 'required' as const };

    const plain = await openaiClient(sandbox()).chat.completions.create(forced);
    const streamed = await openaiClient(sandbox()).chat.completions.stream(forced).finalChatCompletion();

    const call = plain.choices[0]?.message.tool_calls?.[0];
    expect(call?.type === 'function' && JSON.parse(call.function.arguments)).toEqual(weather);
    expect(streamed.choices[0]?.message.tool_calls?.[0]).toMatchObject({
      type: 'function',
      function: { name: 'weather' },
    });
    expect(plain.choices[0]?.finish_reason).toBe('tool_calls');
  });

  test('goes through a free tool call to an answer', async () => {
    const free = { ...create, model: 'sandbox-tool', tools };
    const asked = await openaiClient(sandbox()).chat.completions.create(free);
    const message = asked.choices[0]?.message;
    const call = message?.tool_calls?.[0];
    if (message === undefined || call === undefined) throw new Error('expected a tool call');

    const answer = await openaiClient(sandbox()).chat.completions.create({
      ...free,
      messages: [hello, message, { role: 'tool', tool_call_id: call.id, content: 'sunny' }],
    });

    expect(answer.choices[0]?.message.content).toBe('The tool answered: "sunny". Nothing else is needed.');
  });

  test('gets structured output that satisfies its schema', async () => {
    const completion = await openaiClient(sandbox()).chat.completions.parse({
      ...create,
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'weather', schema: weatherSchema, strict: true },
      },
    });

    expect(completion.choices[0]?.message.parsed).toEqual(weather);
  });

  test('gets a response, plain and streamed with its helper', async () => {
    const client = openaiClient(sandbox());

    const plain = await client.responses.create({ model: 'sandbox-mini', input: 'hello' });
    const streamed = await client.responses.stream({ model: 'sandbox-mini', input: 'hello' }).finalResponse();

    expect(plain.output_text).toBe(reply);
    expect(streamed.output_text).toBe(reply);
    expect(streamed.usage?.output_tokens).toBeGreaterThan(5);
  });

  test('gets a forced tool call and structured output as a response', async () => {
    const client = openaiClient(sandbox());
    const request = { model: 'sandbox-mini', input: 'hello' };

    const called = await client.responses.create({
      ...request,
      tools: [{ type: 'function', name: 'weather', parameters: weatherSchema, strict: true }],
      tool_choice: { type: 'function', name: 'weather' },
    });
    const structured = await client.responses.create({
      ...request,
      text: { format: { type: 'json_schema', name: 'weather', schema: weatherSchema } },
    });

    const call = called.output.find((item) => item.type === 'function_call');
    expect(call?.type === 'function_call' && JSON.parse(call.arguments)).toEqual(weather);
    expect(JSON.parse(structured.output_text)).toEqual(weather);
  });

  test('embeds in base64, its default, and in floats: the same vectors', async () => {
    const client = openaiClient(sandbox());
    const request = { model: 'sandbox-embed', input: ['green plants', 'leafy plants'] };

    const base64 = await client.embeddings.create(request);
    const float = await client.embeddings.create({ ...request, encoding_format: 'float' });

    expect(base64.data[0]?.embedding.length).toBe(256);
    expect(base64.data[0]?.embedding.some((value) => value !== 0)).toBe(true);
    const difference = float.data.map(({ embedding }, i) =>
      Math.max(
        ...embedding.map((value, j) => Math.abs(value - (base64.data[i]?.embedding[j] ?? Number.NaN))),
      ),
    );
    expect(Math.max(...difference)).toBeLessThan(1e-6);
  });

  test('lists models and gets one', async () => {
    const client = openaiClient(sandbox());

    const list = [];
    for await (const model of client.models.list()) list.push(model.id);
    const one = await client.models.retrieve('sandbox-mini');

    expect(list).toContain('sandbox-mini');
    expect(one).toMatchObject({ id: 'sandbox-mini', object: 'model', owned_by: 'sandbox' });
    expect(one.created).toBeGreaterThan(1_600_000_000);
  });
});

describe('error classes', () => {
  const create = (model: string) => ({ model, max_tokens: 10, messages: [hello] });

  test('401 for a wrong key, and no retry', async () => {
    const wrong = { url: sandbox().url, key: 'not-a-key-that-is-known' };
    const before = sandbox().records.length;

    const anthropic = new Anthropic({
      apiKey: wrong.key,
      authToken: null,
      baseURL: wrong.url,
    }).messages.create(create('sandbox-mini'));
    const openai = new OpenAI({ apiKey: wrong.key, baseURL: `${wrong.url}/v1` }).chat.completions.create(
      create('sandbox-mini'),
    );

    await expect(anthropic).rejects.toBeInstanceOf(Anthropic.AuthenticationError);
    await expect(anthropic).rejects.toMatchObject({ type: 'authentication_error' });
    await expect(openai).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
    await expect(openai).rejects.toMatchObject({ code: 'key.invalid', type: 'authentication_error' });
    expect((await sandbox().recorded(before + 2)).length).toBe(before + 2);
  });

  test('404 for an unknown model, with the field that was wrong', async () => {
    const anthropic = anthropicClient(narrow()).messages.create(create('nobody-has-this'));
    const openai = openaiClient(narrow()).responses.create({ model: 'nobody-has-this', input: 'hello' });

    await expect(anthropic).rejects.toBeInstanceOf(Anthropic.NotFoundError);
    await expect(openai).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(openai).rejects.toMatchObject({ code: 'model.unknown', param: '/model' });
    await expect(openaiClient(narrow()).models.retrieve('nobody-has-this')).rejects.toBeInstanceOf(
      OpenAI.NotFoundError,
    );
  });

  test('403 of the provider never looks like the client’s own key', async () => {
    const anthropic = anthropicClient(sandbox()).messages.create(create('sandbox-error-403'));
    const openai = openaiClient(sandbox()).chat.completions.create(create('sandbox-error-401'));

    await expect(anthropic).rejects.toBeInstanceOf(Anthropic.InternalServerError);
    await expect(openai).rejects.toMatchObject({ status: 502, code: 'provider.credentials_rejected' });
  });

  test.each([
    ['sandbox-error-400', 400, Anthropic.BadRequestError, OpenAI.BadRequestError],
    ['sandbox-error-422', 422, Anthropic.UnprocessableEntityError, OpenAI.UnprocessableEntityError],
    ['sandbox-error-500', 500, Anthropic.InternalServerError, OpenAI.InternalServerError],
    ['sandbox-error-504', 504, Anthropic.GatewayTimeoutError, OpenAI.InternalServerError],
  ])('%s passes with its status', async (model, status, anthropicClass, openaiClass) => {
    const anthropic = anthropicClient(sandbox()).messages.create(create(model));
    const openai = openaiClient(sandbox()).chat.completions.create(create(model));

    await expect(anthropic).rejects.toBeInstanceOf(anthropicClass);
    await expect(anthropic).rejects.toMatchObject({ status });
    await expect(openai).rejects.toBeInstanceOf(openaiClass);
  });
});

describe('with scripted hosts', () => {
  const hosts = useHosts(json('{}'), (urls) =>
    twoHosts({ ...urls, provider: 'retries: { attempts: 1 }, breaker: { failures: 1000 }' }),
  );

  test.each([
    ['429', 429, Anthropic.RateLimitError, OpenAI.RateLimitError],
    ['529', 529, Anthropic.OverloadedError, OpenAI.InternalServerError],
  ])('%s passes with retry-after', async (_name, status, anthropicClass, openaiClass) => {
    const { anthropic: claude, openai: gpt, gateway } = hosts();
    const failure = json('{"type":"error","error":{"type":"some_error","message":"told"}}', status, {
      'retry-after': '7',
    });
    claude.script(failure);
    gpt.script(failure);

    const anthropic = anthropicClient(gateway).messages.create({
      model: 'claude-test',
      max_tokens: 9,
      messages: [hello],
    });
    const openai = openaiClient(gateway).chat.completions.create({ model: 'gpt-test', messages: [hello] });

    await expect(anthropic).rejects.toBeInstanceOf(anthropicClass);
    const error = await openai.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(openaiClass);
    expect(error instanceof OpenAI.APIError && error.headers?.get('retry-after')).toBe('7');
  });

  test('tokens are estimated, and marked so, where the provider cannot count', async () => {
    const { openai, gateway } = hosts();
    const before = openai.requests.length;

    const { data, response } = await anthropicClient(gateway)
      .messages.countTokens({ model: 'gpt-test', messages: [{ role: 'user', content: 'x'.repeat(400) }] })
      .withResponse();

    expect(data.input_tokens).toBeGreaterThan(90);
    expect(data.input_tokens).toBeLessThan(150);
    expect(response.headers.get('x-gateway-estimate')).toBe('true');
    expect(openai.requests.length).toBe(before);
  });

  test.each([
    ['messages', messagesEvents],
    ['chat', chatEvents],
    ['responses', responsesEvents],
  ] as const)('an abort in mid-stream (%s) closes the call at the provider', async (dialect, events) => {
    const { anthropic, openai, gateway } = hosts();
    const host = dialect === 'messages' ? anthropic : openai;
    host.script(openStream(events.slice(0, 2)));
    const arrived = host.next();
    const before = gateway.records.length;
    const abort = new AbortController();

    const first = await firstEvent(gateway, dialect, abort.signal);
    abort.abort();
    const end = await (await arrived).ended;

    expect(first).toBeDefined();
    expect(end).toBe('gone');
    expect((await gateway.recorded(before + 1)).at(-1)).toMatchObject({ outcome: 'left', stream: true });
  });

  test('an abort before the first byte closes the call at the provider', async () => {
    const { openai, gateway } = hosts();
    openai.script(() => undefined);
    const arrived = openai.next();
    const abort = new AbortController();

    const call = openaiClient(gateway).chat.completions.create(
      { model: 'gpt-test', messages: [hello] },
      { signal: abort.signal },
    );
    const received = await arrived;
    abort.abort();

    await expect(call).rejects.toBeInstanceOf(OpenAI.APIUserAbortError);
    expect(await received.ended).toBe('gone');
  });
});

async function firstEvent(
  gateway: { url: string; key: string },
  dialect: 'messages' | 'chat' | 'responses',
  signal: AbortSignal,
): Promise<unknown> {
  const openai = openaiClient(gateway);
  const stream: AsyncIterable<unknown> =
    dialect === 'messages'
      ? await anthropicClient(gateway).messages.create(
          { model: 'claude-test', max_tokens: 9, messages: [hello], stream: true },
          { signal },
        )
      : dialect === 'chat'
        ? await openai.chat.completions.create(
            { model: 'gpt-test', messages: [hello], stream: true },
            { signal },
          )
        : await openai.responses.create({ model: 'gpt-test', input: 'hello', stream: true }, { signal });
  const { value } = await stream[Symbol.asyncIterator]().next();
  return value;
}

describe('the project key', () => {
  const body = JSON.stringify({ model: 'sandbox-mini', max_tokens: 9, messages: [hello] });

  test.each([
    ['x-api-key', (key: string) => ({ 'x-api-key': key })],
    ['x-gateway-key', (key: string) => ({ 'x-gateway-key': key })],
    ['a bearer', (key: string) => ({ authorization: `Bearer ${key}` })],
    ['a bearer in other case', (key: string) => ({ authorization: `bEARER   ${key}` })],
    ['the same in two headers', (key: string) => ({ authorization: `Bearer ${key}`, 'x-api-key': key })],
  ])('is taken as %s', async (_name, headers) => {
    const { url, key } = sandbox();

    const answer = await fetch(`${url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(headers(key) as Record<string, string>) },
      body,
    });

    expect(answer.status).toBe(200);
  });
});
