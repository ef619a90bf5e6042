import { expect, test } from 'vitest';
import { json } from '../../kit/answers.ts';
import { openaiClient, post, secrets, startGateway } from '../../kit/gateway.ts';
import { startHost } from '../../kit/host.ts';

const host = await startHost(json('{}'));
const gateway = await startGateway(`
providers:
  google: { dialect: gemini, base_url: "${host.url}", api_key: "\${PROVIDER_KEY}", retries: { attempts: 1 } }
  openai: { dialect: openai, base_url: "${host.url}/v1", api_key: "\${PROVIDER_KEY}", endpoints: [embeddings] }
models:
  - { match: "gemini-*", provider: google }
  - { match: "text-*", provider: openai }
policies:
  strict:
    rules:
      - { id: phrase, action: block, when: { text: { phrases: ["project nightfall"] } }, reason: content.phrase }
projects:
  shop: { policies: [strict], keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] }
  other: { keys: [{ id: other-web, value: "\${OTHER_KEY}" }] }
`);

const last = () => host.requests.at(-1);
const lastBody = () => JSON.parse(last()?.body.toString() ?? '');

const content = (text: string) => ({ content: { parts: [{ text }] } });

function ask(method: string, body: object): Promise<Response> {
  return post(gateway, `/v1beta/models/${method}`, body);
}

test('OpenAI’s SDK gets the vectors of a Gemini provider, in base64 and as numbers', async () => {
  host.script(json('{"embeddings":[{"values":[0.5,-1]},{"values":[0,2]}]}'));
  const { embeddings } = openaiClient(gateway);
  const request = { model: 'gemini-embedding-001', input: ['a', 'bcdefgh'], dimensions: 2 };

  const packed = await embeddings.create(request);
  const plain = await embeddings.create({ ...request, encoding_format: 'float' });

  expect(packed).toEqual(plain);
  expect(packed).toMatchObject({
    data: [{ embedding: [0.5, -1] }, { embedding: [0, 2] }],
    model: 'gemini-embedding-001',
    usage: { prompt_tokens: 2 },
  });
  expect(last()?.target).toBe('/v1beta/models/gemini-embedding-001:batchEmbedContents');
  expect(lastBody()).toEqual({
    requests: ['a', 'bcdefgh'].map((text) => ({
      model: 'models/gemini-embedding-001',
      content: { parts: [{ text }] },
      outputDimensionality: 2,
    })),
  });
});

test('a Gemini client gets the vectors of an OpenAI provider, of one content and of a batch', async () => {
  const data = [0, 1].map((index) => ({ object: 'embedding', index, embedding: [index, 0.25] }));
  const usage = { prompt_tokens: 7, total_tokens: 7 };
  host.script(json(JSON.stringify({ object: 'list', data: data.slice(0, 1), model: 'm', usage })));
  const one = await ask('text-small:embedContent', { ...content('a'), task_type: 'RETRIEVAL_QUERY' });
  const asked = lastBody();
  host.script(json(JSON.stringify({ object: 'list', data, model: 'm', usage })));
  const two = await ask('text-small:batchEmbedContents', { requests: [content('a'), content('b')] });

  const usageMetadata = { promptTokenCount: 7, totalTokenCount: 7 };
  expect(await one.json()).toEqual({ embedding: { values: [0, 0.25] }, usageMetadata });
  expect(asked).toEqual({ model: 'text-small', input: ['a'] });
  expect(await two.json()).toEqual({
    embeddings: [{ values: [0, 0.25] }, { values: [1, 0.25] }],
    usageMetadata,
  });
  expect(lastBody()).toEqual({ model: 'text-small', input: ['a', 'b'] });
  const record = await gateway.recordWhere(
    ({ model, dropped }) => model === 'text-small' && dropped !== undefined,
  );
  expect(record).toMatchObject({
    endpoint: 'gemini_embeddings',
    body: 'translated',
    dropped: ['taskType'],
    usage: { input_tokens: 7 },
  });
});

test('lists of tokens can’t be embedded by a Gemini provider', async () => {
  const other = { url: gateway.url, key: secrets.OTHER_KEY };
  const answer = await post(other, '/v1/embeddings', { model: 'gemini-embedding-001', input: [[1, 2]] });

  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: { reason: 'request.unsupported', param: 'input[0]' } });
});

const image = { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } };

test.each([
  ['another length', [{ outputDimensionality: 2 }, { outputDimensionality: 3 }], 'same length'],
  ['an image', [{ content: { parts: [image] } }], 'only texts'],
])('a batch with %s is refused where it has to be translated', async (_name, fields, message) => {
  const requests = fields.map((each) => ({ ...content('a'), ...each }));

  const answer = await ask('text-small:batchEmbedContents', { requests });

  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain(message);
});

test('what a provider answers that are no vectors is broken, and what a rule finds is not sent', async () => {
  const before = host.requests.length;
  const blocked = await ask('text-small:embedContent', {
    content: { parts: [{ text: 'project' }, { text: 'nightfall' }] },
  });
  expect(blocked.status).toBe(403);
  expect(host.requests.length).toBe(before);

  host.script(json('{"data":[{"embedding":7}]}'));
  expect((await ask('text-small:embedContent', content('a'))).status).toBe(502);
  for (const body of ['{"embeddings":7}', '{"embeddings":[{"values":[1]},{"values":[2]}]}']) {
    host.script(json(body));
    const openai = openaiClient(gateway).embeddings.create({ model: 'gemini-embedding-001', input: 'a' });
    await expect(openai).rejects.toMatchObject({ status: 502 });
  }
});

test('vectors of an OpenAI provider are in the order of their numbers, each of which is there once', async () => {
  const requests = ['a', 'b'].map(content);
  const answerWith = (...numbers: number[]) => {
    host.script(json(JSON.stringify({ data: numbers.map((index) => ({ index, embedding: [index] })) })));
    return ask('text-embedding-3-small:batchEmbedContents', { requests });
  };

  expect(await (await answerWith(1, 0)).json()).toMatchObject({
    embeddings: [{ values: [0] }, { values: [1] }],
  });
  expect((await answerWith(0, 0)).status).toBe(502);
  expect((await answerWith(0, 2)).status).toBe(502);
});
