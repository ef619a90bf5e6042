import { beforeEach, describe, expect, test } from 'vitest';
import { geminiAnswer, geminiEvents, json, stream } from '../../kit/answers.ts';
import { secrets, startGateway } from '../../kit/gateway.ts';
import { startHost } from '../../kit/host.ts';
import { postRaw } from '../../kit/raw.ts';
import { isExhaustive } from '../../kit/scale.ts';

const host = await startHost(json(geminiAnswer));
const gateway = await startGateway(`
providers:
  google: { dialect: gemini, base_url: "${host.url}", api_key: "\${PROVIDER_KEY}" }
models:
  - { match: "gemini-*", provider: google }
  - { match: fast, provider: google, model: gemini-2.5-flash }
  - { match: "open/*", provider: google }
policies:
  strict:
    rules:
      - { id: phrase, action: block, when: { text: { phrases: ["project nightfall"] } }, reason: content.phrase }
  masking:
    rules:
      - { id: secrets, action: mask, when: { text: { detect: [secrets] } } }
projects:
  shop: { policies: [strict], keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] }
  other: { policies: [masking], keys: [{ id: other-web, value: "\${OTHER_KEY}" }] }
`);

let seen = 0;
const requests = () => host.requests.slice(seen);

beforeEach(() => {
  host.script(json(geminiAnswer));
  seen = host.requests.length;
});

const hello = { contents: [{ role: 'user', parts: [{ text: 'hello' }] }] };

function ask(
  path: string,
  body: unknown = hello,
  headers: Record<string, string> = { 'x-goog-api-key': secrets.PROJECT_KEY },
): Promise<Response> {
  return fetch(`${gateway.url}/v1beta/models/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

test('passes the same bytes on, with the provider’s key in its header', async () => {
  const body = '{ "contents" : [{"parts":[{"text":"h\\u0065llo"}]}] }';

  const answer = await ask('gemini-2.5-pro:generateContent', body);

  expect(await answer.text()).toBe(geminiAnswer);
  expect(answer.headers.get('x-gateway-body')).toBe('exact');
  expect(requests()).toHaveLength(1);
  expect(requests()[0]?.target).toBe('/v1beta/models/gemini-2.5-pro:generateContent');
  expect(requests()[0]?.body.toString()).toBe(body);
  expect(requests()[0]?.headers).toContainEqual(['x-goog-api-key', secrets.PROVIDER_KEY]);
  const record = await gateway.recordWhere(({ model }) => model === 'gemini-2.5-pro');
  expect(record).toMatchObject({
    endpoint: 'gemini',
    path: '/v1beta/models/{model}:generateContent',
    usage: { input_tokens: 3, output_tokens: 4 },
  });
});

test('splices the name of the target into the path, and into bodies that repeat it', async () => {
  const once = await ask('fast:generateContent');
  const twice = await ask('fast:batchEmbedContents', {
    requests: [{ model: 'models/fast', content: { parts: [{ text: 'a' }] } }],
  });
  await ask('open/model@v1:generateContent');

  expect([once.status, twice.status]).toEqual([200, 200]);
  expect(requests().map(({ target }) => target)).toEqual([
    '/v1beta/models/gemini-2.5-flash:generateContent',
    '/v1beta/models/gemini-2.5-flash:batchEmbedContents',
    '/v1beta/models/open/model%40v1:generateContent',
  ]);
  expect(JSON.parse(requests()[1]?.body.toString() ?? '')).toMatchObject({
    requests: [{ model: 'models/gemini-2.5-flash' }],
  });
});

test.each([
  [
    'another model in the body',
    'fast:generateContent',
    { ...hello, model: 'models/other' },
    400,
    'another model',
  ],
  [
    'another model in a batch',
    'fast:batchEmbedContents',
    { requests: [{ model: 'other' }] },
    400,
    'another model',
  ],
  ['dots in the path', 'open/..%2f..%2ffiles:generateContent', hello, 400, 'cannot stand in a path'],
  ['an unknown model', 'nothing:generateContent', hello, 404, 'no provider serves'],
  ['an unknown method', 'fast:generate', hello, 405, 'takes GET only'],
  ['a key in the address', 'fast:generateContent?key=not-hex', hello, 401, 'x-goog-api-key'],
  ['one behind another value', 'fast:generateContent?alt=sse&key=not-hex', hello, 401, 'x-goog-api-key'],
  ['one whose name is encoded', 'fast:generateContent?k%65y=not-hex', hello, 401, 'x-goog-api-key'],
  [
    'a blocked text',
    'fast:generateContent',
    { contents: [{ parts: [{ text: 'project nightfall' }] }] },
    403,
    'phrase',
  ],
  ['a blocked model', 'open/project%20nightfall:generateContent', hello, 400, 'model must be'],
  ['no contents', 'fast:generateContent', {}, 400, 'contents is missing'],
])('refuses %s in the form of Google’s errors', async (_name, path, body, status, message) => {
  const answer = await ask(path, body);
  const { error } = (await answer.json()) as { error: Record<string, unknown> };

  expect({ status: answer.status, code: error.code }).toEqual({ status, code: status });
  expect(error.message).toContain(message);
  expect(error.status).toMatch(/^[A-Z_]+$/);
  expect(error.details).toMatchObject([{ domain: 'gateway' }]);
  expect(JSON.stringify(gateway.records)).not.toContain('not-hex');
  expect(requests()).toHaveLength(0);
});

describe('streams', () => {
  beforeEach(() => {
    host.script(stream(geminiEvents));
  });

  test('pass as events byte for byte', async () => {
    const answer = await ask('gemini-a:streamGenerateContent?alt=sse');

    expect(await answer.text()).toBe(geminiEvents.join(''));
    expect(requests()[0]?.target).toBe('/v1beta/models/gemini-a:streamGenerateContent?alt=sse');
    const record = await gateway.recordWhere(({ model }) => model === 'gemini-a');
    expect(record).toMatchObject({ stream: true, usage: { input_tokens: 3, output_tokens: 4 } });
  });

  test('are an array for clients that ask for no events', async () => {
    const answer = await ask('gemini-b:streamGenerateContent');

    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(await answer.json()).toEqual(geminiEvents.map((event) => JSON.parse(event.slice(6))));
    expect(requests()[0]?.target).toBe('/v1beta/models/gemini-b:streamGenerateContent?alt=sse');
  });

  test.each(['?alt=sse', ''])(
    'that are cut end with an error and a broken connection (%s)',
    { timeout: isExhaustive ? 300_000 : 20_000 },
    async (query) => {
      const whole = Buffer.from(geminiEvents.join(''));
      for (let length = 1; length < whole.length - 4; length += isExhaustive ? 1 : 23) {
        host.script(stream([whole.subarray(0, length)]));
        const answer = await ask(`gemini-c:streamGenerateContent${query}`);
        await expect(answer.text()).rejects.toThrow('terminated');
      }
      const records = gateway.records.filter(({ model }) => model === 'gemini-c');
      expect(records.every(({ outcome }) => outcome === 'failed')).toBe(true);
    },
  );
});

test('masks secrets in every part, and restores them in answers', async () => {
  const secret =
    'sk-ant-api03-Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb3dEf6hIj9kLm2nOp5qAA';
  const echo = JSON.stringify(geminiAnswer);
  host.script((response, request) => {
    const found = /API_KEY_[A-Z0-9]+|[A-Z_]*_[A-Z]{8,}[A-Z0-9]*/.exec(request.body.toString())?.[0] ?? 'none';
    json(JSON.parse(echo).replace('Hello from gemini', `it is ${found}`))(response, request);
  });
  const body = {
    system_instruction: { parts: [{ text: `the key is ${secret}` }] },
    contents: [
      {
        role: 'model',
        parts: [{ functionCall: { name: 'f', args: { key: secret } }, thoughtSignature: 'c2ln' }],
      },
      { role: 'user', parts: [{ functionResponse: { name: 'f', response: { id: secret } } }] },
    ],
  };

  const answer = await ask('fast:generateContent', body, { 'x-gateway-key': secrets.OTHER_KEY });

  expect(requests()[0]?.body.toString()).not.toContain('Ab3dEf6h');
  expect(answer.headers.get('x-gateway-body')).toBe('masked');
  expect(await answer.text()).toContain(secret);
});

test('lists models in Google’s form', async () => {
  const answer = await fetch(`${gateway.url}/v1beta/models`, {
    headers: { 'x-goog-api-key': secrets.PROJECT_KEY },
  });
  const one = await fetch(`${gateway.url}/v1beta/models/fast`, {
    headers: { 'x-goog-api-key': secrets.PROJECT_KEY },
  });

  expect(await answer.json()).toMatchObject({ models: [{ name: 'models/fast' }] });
  expect(await one.json()).toMatchObject({ name: 'models/fast', baseModelId: 'fast' });
});

test('has the same at /v1, where Google’s newer clients ask', async () => {
  const at = (path: string, init: RequestInit = {}, key = secrets.PROJECT_KEY) =>
    fetch(`${gateway.url}/v1/models${path}`, {
      ...init,
      headers: { 'content-type': 'application/json', 'x-goog-api-key': key },
    });
  const post = { method: 'POST', body: JSON.stringify(hello) };

  const answer = await at('/fast:generateContent', post);
  const inAddress = await at('/fast:generateContent?key=abc', post);
  const unknown = await at('/nothing:generateContent', post);
  const [list, usual] = await Promise.all([
    at(''),
    fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${secrets.PROJECT_KEY}` } }),
  ]);

  expect([answer.status, inAddress.status, unknown.status]).toEqual([200, 401, 404]);
  expect(await unknown.json()).toMatchObject({ error: { code: 404, status: 'NOT_FOUND' } });
  expect(requests().map(({ target }) => target)).toEqual(['/v1beta/models/gemini-2.5-flash:generateContent']);
  expect(await list.json()).toMatchObject({ models: [{ name: 'models/fast' }] });
  expect(await usual.json()).toMatchObject({ data: [{ id: 'fast' }] });
});

test('counts at the provider', async () => {
  host.script(json('{"totalTokens":5}'));

  const answer = await ask('fast:countTokens');

  expect(await answer.json()).toEqual({ totalTokens: 5 });
  expect(requests()[0]?.target).toBe('/v1beta/models/gemini-2.5-flash:countTokens');
});

test('counts a request with its system instruction and tools, under the name of the target', async () => {
  host.script(json('{"totalTokens":5}'));
  const inner = { model: 'models/fast', ...hello, systemInstruction: { parts: [{ text: 'be brief' }] } };

  const answer = await ask('fast:countTokens', { generateContentRequest: inner });
  const blocked = await ask('fast:countTokens', {
    generateContentRequest: {
      ...inner,
      contents: [{ parts: [{ text: 'project ' }, { text: 'nightfall' }] }],
    },
  });

  expect([answer.status, blocked.status]).toEqual([200, 403]);
  expect(requests().map(({ body }) => JSON.parse(body.toString()))).toEqual([
    { generateContentRequest: { ...inner, model: 'models/gemini-2.5-flash' } },
  ]);
});

test.each([
  ['?alt=sse', true],
  ['?prettyPrint=false&alt=sse', true],
  ['', false],
  ['?alt=json', false],
  ['?alt=proto', false],
  ['?alt=', false],
])('streamGenerateContent%s is answered by events: %s', async (query, isEvents) => {
  host.script(stream(geminiEvents));

  const answer = await ask(`fast:streamGenerateContent${query}`);
  const text = await answer.text();

  expect(answer.status).toBe(200);
  expect(text.startsWith('data: ')).toBe(isEvents);
  if (!isEvents) expect(JSON.parse(text)).toHaveLength(geminiEvents.length);
  expect(requests()[0]?.target).toBe('/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse');
});

test('a name with slashes, colons and dots in it never reaches another path', async () => {
  const names = [
    'open/a:b',
    'open/a..b',
    'open/a/b',
    'open/../x',
    'open/./x',
    'open//x',
    'open/%2e%2e/x',
    'open/x%2f..',
  ];
  const answers = await Promise.all(
    names.map(async (name) => {
      const path = `/v1beta/models/${name}:generateContent`;
      // fetch would resolve the dots itself.
      return (await postRaw(gateway, path, hello)).status;
    }),
  );

  expect(answers).toEqual([200, 200, 200, 400, 400, 400, 400, 400]);
  expect(
    requests()
      .map(({ target }) => target)
      .sort(),
  ).toEqual(
    ['open/a:b', 'open/a..b', 'open/a/b'].map((name) => `/v1beta/models/${name}:generateContent`).sort(),
  );
});
