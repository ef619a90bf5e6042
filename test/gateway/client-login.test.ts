import { beforeEach, describe, expect, test } from 'vitest';
import {
  json,
  messagesAnswer,
  messagesEvents,
  responsesAnswer,
  responsesEvents,
  stream,
} from '../kit/answers.ts';
import { post, projects, secrets, startGateway } from '../kit/gateway.ts';
import { type HostRequest, startHost } from '../kit/host.ts';

// A provider that takes the client's own login, next to one with a key of the gateway's.

const token = `sk-ant-oat01-${'aB3_-'.repeat(20)}`;
/** Fits into a header's name. */
const short = 'A-Login-of-this-Length-0123456789';
const login = { 'x-gateway-key': secrets.PROJECT_KEY, authorization: `Bearer ${token}` };
const body = '{"model":"own","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}';

const own = await startHost(() => undefined);
const other = await startHost(() => undefined);
const gateway = await startGateway(`
providers:
  own: { dialect: anthropic, base_url: "${own.url}", credentials: client, retries: { attempts: 3 }, breaker: { failures: 2 } }
  chatgpt: { dialect: openai, base_url: "${own.url}/backend-api/codex", credentials: client, endpoints: [responses] }
  other: { dialect: anthropic, base_url: "${other.url}", api_key: "\${PROVIDER_KEY}" }
models:
  - { match: own, provider: own }
  - { match: gpt, provider: chatgpt }
  - { match: other, provider: other }
  - { match: own-then-other, provider: own, fallbacks: [{ provider: other, model: other }] }
  - { match: other-then-own, provider: other, fallbacks: [{ provider: own, model: own }] }
  - { match: priced, provider: own, pricing: { input: 1, output: 1 } }
${projects}`);

beforeEach(() => {
  own.script(json(messagesAnswer));
  other.script(json(messagesAnswer));
});

async function send(
  headers: Record<string, string> | [string, string][],
  { path = '/v1/messages', model = 'own', text = body.replace('"own"', JSON.stringify(model)) } = {},
) {
  const before = [own.requests.length, other.requests.length];
  const all = new Headers(headers);
  all.set('content-type', 'application/json');
  const answer = await fetch(gateway.url + path, { method: 'POST', headers: all, body: text });
  return {
    status: answer.status,
    text: await answer.text(),
    headers: answer.headers,
    own: own.requests.slice(before[0]),
    other: other.requests.slice(before[1]),
  };
}

const headerOf = (request: HostRequest | undefined, wanted: string) =>
  request?.headers.filter(([name]) => name === wanted).map(([, value]) => value);
const all = (requests: readonly HostRequest[]) => JSON.stringify(requests) + requests.map(({ body }) => body);

describe('the login goes to its provider as it came, and the bytes too', () => {
  test.each([
    ['authorization', `Bearer ${token}`],
    ['authorization', `bearer   ${token}`],
    ['authorization', `BEARER ${token.toUpperCase()}`],
    ['authorization', `Bearer ${'eyJ'.repeat(2_730)}`],
    ['x-api-key', token],
  ])('%s: %.30s', async (name, value) => {
    const beta = 'claude-code-20250219,oauth-2025-04-20';
    const headers = { 'x-gateway-key': secrets.PROJECT_KEY, [name]: value, 'anthropic-beta': beta };

    const { status, own: requests } = await send(headers);

    expect(status).toBe(200);
    expect(headerOf(requests[0], name)).toEqual([value]);
    expect(headerOf(requests[0], 'anthropic-beta')).toEqual([beta]);
    expect(headerOf(requests[0], 'x-gateway-key')).toEqual([]);
    expect(requests[0]?.body.toString()).toBe(body);
    expect(all(requests)).not.toContain(secrets.PROJECT_KEY);
  });

  test('with the account that ChatGPT’s host needs', async () => {
    own.script(json(responsesAnswer));
    const account = { 'chatgpt-account-id': 'acc-1', 'x-openai-internal-codex-responses-lite': 'true' };
    const request = { path: '/v1/responses', text: '{"model":"gpt","input":"hi"}' };

    const { status, own: requests } = await send({ ...login, ...account }, request);

    expect(status).toBe(200);
    expect(requests[0]?.target).toBe('/backend-api/codex/responses');
    expect(headerOf(requests[0], 'chatgpt-account-id')).toEqual(['acc-1']);
    expect(headerOf(requests[0], 'x-openai-internal-codex-responses-lite')).toEqual(['true']);
  });
});

describe('nobody else gets it', () => {
  test.each(['other', 'own-then-other', 'other-then-own'])('model %s', async (model) => {
    own.script(json('{}', 500));
    if (model === 'other-then-own') other.script(json('{}', 500));

    const { other: requests } = await send(login, { model });

    expect(requests).toHaveLength(1);
    expect(all(requests)).not.toContain(token);
    expect(headerOf(requests[0], 'x-api-key')).toEqual([secrets.PROVIDER_KEY]);
    expect(headerOf(requests[0], 'authorization')).toEqual([]);
  });

  test('a client of another dialect, whose login is for another provider', async () => {
    const { status, text, own: requests } = await send(login, { path: '/v1/chat/completions' });

    expect([status, requests]).toEqual([400, []]);
    expect(text).toContain('does not serve /v1/chat/completions');
  });
});

describe('401 says which header is missing or wrong', () => {
  const key = secrets.PROJECT_KEY;
  test.each([
    ['key.missing', 'as x-gateway-key', { authorization: `Bearer ${key}` }],
    ['key.missing', 'send it as authorization (or x-api-key)', { 'x-gateway-key': key }],
    ['key.missing', 'authorization', { 'x-gateway-key': key, authorization: `Bearer ${key}` }],
    ['key.conflict', 'authorization and x-api-key', { ...login, 'x-api-key': `${token}2` }],
    ['key.conflict', 'authorization', { 'x-gateway-key': key, authorization: `Bearer ${secrets.OTHER_KEY}` }],
    ['key.conflict', 'x-api-key', { 'x-gateway-key': key, 'x-api-key': secrets.OTHER_KEY }],
    ['key.conflict', 'authorization', { 'x-gateway-key': key, authorization: 'Bearer gw_0000000000000000' }],
    ['key.invalid', 'x-gateway-key', { authorization: `Bearer ${token}` }],
    ['key.invalid', 'not known', { ...login, 'x-gateway-key': 'unknown-key-0123456789' }],
    ['key.invalid', 'Bearer', { 'x-gateway-key': key, authorization: `Basic ${token}` }],
    ['key.invalid', 'at least 16', { 'x-gateway-key': key, authorization: 'Bearer short' }],
    ['key.invalid', 'visible', { 'x-gateway-key': key, authorization: `Bearer ${token} ${token}` }],
    ['key.invalid', 'visible', { 'x-gateway-key': key, 'x-api-key': `${token}é` }],
    ['key.missing', 'authorization', { 'x-gateway-key': key, authorization: 'Bearer ' }],
  ])('%s: %s %j', async (code, words, headers) => {
    const { status, text, own: requests, headers: answered } = await send(headers);

    expect([status, requests]).toEqual([401, []]);
    expect(JSON.parse(text).error).toMatchObject({ code, message: expect.stringContaining(words) });
    expect(answered.get('www-authenticate')).toBe('Bearer');
    expect(text).not.toMatch(/sk-ant|project-key/);
  });

  test('two credentials in one header', async () => {
    const twice: [string, string][] = [
      ['x-gateway-key', key],
      ['x-api-key', token],
      ['x-api-key', `${token}2`],
    ];

    expect(await send(twice)).toMatchObject({ status: 401, own: [] });
  });

  test('where no provider takes a login, two keys are still a conflict', async () => {
    const plain = await startGateway(projects);

    expect((await fetch(`${plain.url}/v1/models`, { headers: login })).status).toBe(401);
  });
});

describe('what the provider says of the login reaches the client', () => {
  test('its limits, untouched, without a second request', async () => {
    const limits = {
      'anthropic-ratelimit-unified-status': 'rejected',
      'anthropic-ratelimit-unified-5h-reset': '1795600000',
      'x-codex-primary-used-percent': '100',
      'retry-after': '1',
    };
    own.script(json('{"type":"error","error":{"type":"rate_limit_error","message":"limit"}}', 429, limits));

    const { status, headers, own: requests } = await send(login);

    expect([status, requests.length]).toEqual([429, 1]);
    expect(Object.fromEntries(Object.keys(limits).map((name) => [name, headers.get(name)]))).toEqual(limits);
  });

  test('its limits, next to limits of the gateway', async () => {
    own.script(json(messagesAnswer, 200, { 'anthropic-ratelimit-unified-status': 'allowed' }));
    const limited = await startGateway(`
providers: { own: { dialect: anthropic, base_url: "${own.url}", credentials: client } }
models: [{ match: "*", provider: own }]
projects: { shop: { limits: { requests_per_minute: 2, usd_per_day: 1 }, keys: [{ id: k, value: "\${PROJECT_KEY}" }] } }`);
    const ask = () => post(limited, '/v1/messages', body, { headers: login });

    const answers = [await ask(), await ask(), await ask()];
    const [record] = await limited.recorded(3);
    await limited.stop();

    // Not priced, so no budget refuses it; rates hold.
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(answers[0]?.headers.get('anthropic-ratelimit-unified-status')).toBe('allowed');
    expect(answers[0]?.headers.get('anthropic-ratelimit-requests-limit')).toBeNull();
    expect(record).toMatchObject({ usage: { input_tokens: 3, output_tokens: 4 } });
    expect(record).not.toHaveProperty('cost_usd');
  });

  test('a price that the configuration gives is counted', async () => {
    await send(login, { model: 'priced' });

    expect(await gateway.recordWhere(({ model }) => model === 'priced')).toMatchObject({
      cost_usd: 0.000007,
    });
  });

  test('a stream without a content-type is a stream', async () => {
    own.script((response) => response.writeHead(200).end(responsesEvents.join('')));

    const { headers, text } = await send(login, {
      path: '/v1/responses',
      text: '{"model":"gpt","input":"hi","stream":true}',
    });

    expect([headers.get('content-type'), text]).toEqual(['text/event-stream', responsesEvents.join('')]);
  });
});

describe('it is masked wherever configured secrets are', () => {
  const events = messagesEvents.map((event) => event.replace('Grüße', token));

  test.each([
    ['an answer', json(messagesAnswer.replace('Hello', token))],
    ['an error', json(`{"type":"error","error":{"type":"x","message":"bad ${token}"}}`, 400)],
    ['an escaped error', json(`{"error":{"message":"bad \\u0073${token.slice(1)}"}}`, 401)],
    ['a header', json(messagesAnswer, 200, { 'anthropic-told': `you sent ${token}` })],
    ['a stream', stream(events)],
  ])('%s', async (place, script) => {
    own.script(script);

    const text = place === 'a stream' ? body.replace('{', '{"stream":true,') : body;
    const { text: answered, headers } = await send(login, { text });

    expect(answered + JSON.stringify([...headers])).not.toContain(token.slice(1));
    expect(answered + JSON.stringify([...headers])).toContain('[secret]');
    if (place === 'a stream') expect(answered).toBe(events.join('').replace(token, '[secret]'));
  });
});

describe('in the wrong place it is blocked', () => {
  test.each([
    ['the body', { text: body.replace('hi', `my token is ${token}`) }, {}],
    ['the body, escaped', { text: body.replace('hi', `\\u0073${token.slice(1)}`) }, {}],
    ['the model', { model: token }, {}],
    ['a header', {}, { 'user-agent': `agent ${token}` }],
    ['a header by a prefix', {}, { 'x-claude-token': token }],
    ['the name of a header', {}, { authorization: `Bearer ${short}`, [`X-Claude-${short}`]: '1' }],
    [
      'the name of a header in another case',
      {},
      { authorization: `Bearer ${short}`, [`x-claude-${short.toUpperCase()}`]: '1' },
    ],
    [
      'the body for another provider',
      { model: 'other', text: body.replace('hi', token).replace('own', 'other') },
      {},
    ],
  ])('%s', async (_place, request, headers) => {
    const sent = await send({ ...login, ...headers }, request);

    expect([sent.status, sent.own, sent.other]).toEqual([403, [], []]);
    expect(JSON.parse(sent.text).error).toMatchObject({ reason: 'content.client_credential' });
    expect(sent.text).not.toContain(token.slice(1));
    const id = sent.headers.get('x-request-id');
    expect(await gateway.recordWhere(({ request_id }) => request_id === id)).toMatchObject({
      decision: 'block',
      rules: [{ id: 'client-credential' }],
    });
  });

  test('in the query it goes nowhere', async () => {
    const { own: requests } = await send(login, { path: `/v1/messages?beta=${token}&key=${token}` });

    expect(requests.map(({ target }) => target)).toEqual(['/v1/messages']);
  });
});

test('no record has it', async () => {
  own.script(json(`not json ${token}`, 500));
  await send(login);
  // Whole, and where its end is cut off with that of a long path.
  const paths = [`/v1/${token}`, `/${token}/v1/messages`, `/v1/${'a'.repeat(180)}/${token}`];
  const answers = await Promise.all(paths.map((path) => send(login, { path })));

  const ids = answers.map(({ headers }) => headers.get('x-request-id'));
  const records = ids.map((id) => gateway.recordWhere(({ request_id }) => request_id === id));
  expect(await Promise.all(records)).toEqual(
    paths.map((path) => expect.objectContaining({ path: path.replace(token, '[secret]').slice(0, 200) })),
  );
  await gateway.recordWhere(({ cause }) => cause === 'not json [secret]');
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
  expect(JSON.stringify([gateway.records, answers])).not.toContain(token.slice(1, 12));
});

test('clients whose login has expired are each told so, and each gets the answer to its renewed one', async () => {
  const tokenOf = (state: string, client: number) => `sk-ant-oat01-${state}-${client}-${'aB3_-'.repeat(20)}`;
  const expired = '{"type":"error","error":{"type":"authentication_error","message":"token has expired"}}';
  own.script((response, request) => {
    const client = /-new-(\d+)-/.exec(headerOf(request, 'authorization')?.[0] ?? '')?.[1];
    const script =
      client === undefined
        ? json(expired, 401, { 'x-should-retry': 'true' })
        : json(messagesAnswer.replace('Hello from messages', client));
    return script(response, request);
  });
  const as = (token: string) => send({ ...login, authorization: `Bearer ${token}` });
  const before = own.requests.length;

  const clients = Array.from({ length: 20 }, async (_, client) => {
    const { status, text, headers } = await as(tokenOf('old', client));
    const told = [headers.get('x-should-retry'), headers.get('x-gateway-error')];
    const renewed = await as(tokenOf('new', client));
    return [status, text, ...told, renewed.status, renewed.text.includes(`"text":"${client}"`)];
  });

  expect(await Promise.all(clients)).toEqual(clients.map(() => [401, expired, 'true', null, 200, true]));
  expect(own.requests.length - before).toBe(40); // nothing was repeated, and no breaker opened
});
