import { beforeEach, expect, test } from 'vitest';
import { geminiAnswer, geminiEvents, json, stream } from '../../kit/answers.ts';
import { secrets, startGateway } from '../../kit/gateway.ts';
import { startHost } from '../../kit/host.ts';
import { postRaw } from '../../kit/raw.ts';
import { scale } from '../../kit/scale.ts';

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
projects:
  shop: { policies: [strict], keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] }
`);

let seen = 0;
const requests = () => host.requests.slice(seen);

beforeEach(() => {
  host.script(json(geminiAnswer));
  seen = host.requests.length;
});

const hello = { contents: [{ role: 'user', parts: [{ text: 'hello' }] }] };

function ask(path: string, body: unknown = hello): Promise<Response> {
  return fetch(`${gateway.url}/v1beta/models/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-goog-api-key': secrets.PROJECT_KEY },
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

const generate = 'fast:generateContent';
const saying = (text: string) => ({ contents: [{ parts: [{ text }] }] });

// biome-ignore format: a case a line
test.each([
  ['another model in the body', generate, { ...hello, model: 'models/other' }, 400, 'another model'],
  ['another model in a batch', 'fast:batchEmbedContents', { requests: [{ model: 'other' }] }, 400, 'another model'],
  ['dots in the path', 'open/..%2f..%2ffiles:generateContent', hello, 400, 'cannot stand in a path'],
  ['an unknown model', 'nothing:generateContent', hello, 404, 'no provider serves'],
  ['an unknown method', 'fast:generate', hello, 405, 'takes GET, HEAD only'],
  ['a key in the address', `${generate}?key=not-hex`, hello, 401, 'x-goog-api-key'],
  ['one behind another value', `${generate}?alt=sse&key=not-hex`, hello, 401, 'x-goog-api-key'],
  ['one whose name is encoded', `${generate}?k%65y=not-hex`, hello, 401, 'x-goog-api-key'],
  ['a blocked text', generate, saying('project nightfall'), 403, 'phrase'],
  ['a blocked model', 'open/project%20nightfall:generateContent', hello, 403, 'phrase'],
  ['a name that no model has', 'open/project%3Fnightfall:generateContent', hello, 400, 'model must be'],
  ['no contents', generate, {}, 400, 'contents is missing'],
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

test.each([
  ['?alt=sse', true],
  ['?prettyPrint=false&alt=sse', true],
  ['', false],
  ['?alt=json', false],
  ['?alt=', false],
])('streamGenerateContent%s is answered by events, or by an array of them: %s', async (query, isEvents) => {
  host.script(stream(geminiEvents));

  const answer = await ask(`fast:streamGenerateContent${query}`);
  const text = await answer.text();

  expect(answer.headers.get('content-type')).toBe(isEvents ? 'text/event-stream' : 'application/json');
  if (isEvents) expect(text).toBe(geminiEvents.join(''));
  else expect(JSON.parse(text)).toEqual(geminiEvents.map((event) => JSON.parse(event.slice(6))));
  expect(requests()[0]?.target).toBe('/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse');
  const id = answer.headers.get('x-request-id');
  expect(await gateway.recordWhere(({ request_id }) => request_id === id)).toMatchObject({
    stream: true,
    usage: { input_tokens: 3, output_tokens: 4 },
  });
});

test('an array of events that is cut ends with a broken connection', { timeout: 300_000 }, async () => {
  const whole = Buffer.from(geminiEvents.join(''));
  for (let length = 1; length < whole.length - 4; length += scale(53, 7)) {
    host.script(stream([whole.subarray(0, length)]));
    const answer = await ask('gemini-c:streamGenerateContent');
    await expect(answer.text()).rejects.toThrow('terminated');
  }
  const records = gateway.records.filter(({ model }) => model === 'gemini-c');
  expect(records.every(({ outcome }) => outcome === 'failed')).toBe(true);
});

test.each(['/v1beta', '/v1'])(
  'generates and lists models at %s, where Google’s clients ask',
  async (base) => {
    const at = (path: string, init: RequestInit = {}) =>
      fetch(`${gateway.url}${base}/models${path}`, {
        ...init,
        headers: { 'content-type': 'application/json', 'x-goog-api-key': secrets.PROJECT_KEY },
      });
    const post = { method: 'POST', body: JSON.stringify(hello) };

    const answer = await at('/fast:generateContent', post);
    const inAddress = await at('/fast:generateContent?key=abc', post);
    const unknown = await at('/nothing:generateContent', post);

    expect([answer.status, inAddress.status, unknown.status]).toEqual([200, 401, 404]);
    expect(await unknown.json()).toMatchObject({ error: { code: 404, status: 'NOT_FOUND' } });
    expect(requests().map(({ target }) => target)).toEqual([
      '/v1beta/models/gemini-2.5-flash:generateContent',
    ]);
    expect(await (await at('')).json()).toMatchObject({ models: [{ name: 'models/fast' }] });
    expect(await (await at('/fast')).json()).toMatchObject({ name: 'models/fast', baseModelId: 'fast' });
  },
);

test('at /v1/models the other clients get their own list', async () => {
  const answer = await fetch(`${gateway.url}/v1/models`, {
    headers: { authorization: `Bearer ${secrets.PROJECT_KEY}` },
  });

  expect(await answer.json()).toMatchObject({ data: [{ id: 'fast' }] });
});

test('counts a request with its system instruction and tools, under the name of the target', async () => {
  host.script(json('{"totalTokens":5}'));
  const inner = { model: 'models/fast', ...hello, systemInstruction: { parts: [{ text: 'be brief' }] } };

  const answer = await ask('fast:countTokens', { generateContentRequest: inner });
  const blocked = await ask('fast:countTokens', {
    generateContentRequest: { ...inner, ...saying('project nightfall') },
  });

  expect([answer.status, blocked.status]).toEqual([200, 403]);
  expect(requests().map(({ body }) => JSON.parse(body.toString()))).toEqual([
    { generateContentRequest: { ...inner, model: 'models/gemini-2.5-flash' } },
  ]);
});

test('a name with slashes, colons and dots in it never reaches another path', async () => {
  const pass = ['open/a:b', 'open/a..b', 'open/a/b'];
  const stop = ['open/../x', 'open/./x', 'open//x', 'open/%2e%2e/x', 'open/x%2f..'];
  const paths = [...pass, ...stop].map((name) => `/v1beta/models/${name}:generateContent`);

  // fetch would resolve the dots itself.
  const answers = await Promise.all(paths.map((path) => postRaw(gateway, path, hello)));

  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 400, 400, 400, 400, 400]);
  expect(new Set(requests().map(({ target }) => target))).toEqual(new Set(paths.slice(0, 3)));
});
