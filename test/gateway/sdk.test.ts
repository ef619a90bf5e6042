import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { chatEvents, json, messagesEvents, openStream, responsesEvents } from '../kit/answers.ts';
import { twoHosts } from '../kit/config.ts';
import { anthropicClient, openaiClient } from '../kit/gateway.ts';
import { useGateway, useHosts } from '../kit/lifecycle.ts';

const reply = 'The sandbox read: "hello". It works offline and always replies the same way.';
const hello = { role: 'user' as const, content: 'hello' };

const sandbox = useGateway();
/** Serves one model only; sandbox mode serves every name. */
const narrow = useGateway(
  'providers: { sandbox: { dialect: sandbox } }\nmodels: [{ match: sandbox-mini, provider: sandbox }]\n',
);

describe('the Anthropic SDK', () => {
  const create = { model: 'sandbox-mini', max_tokens: 200, messages: [hello] };

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
