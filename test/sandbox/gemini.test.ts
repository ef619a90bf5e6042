import { expect, test } from 'vitest';
import { post, startClients } from './clients.ts';

const { url } = await startClients();
const ask = (path: string, body: object) => post(`${url}/v1beta/models/${path}`, body);

const hello = { contents: [{ role: 'user', parts: [{ text: 'hello' }] }] };
test('answers whole and as a stream with the same text, which without alt=sse is an array of the same events', async () => {
  const whole = JSON.parse((await ask('sandbox-mini:generateContent', hello)).text);
  const { text } = await ask('sandbox-mini:streamGenerateContent?alt=sse', hello);
  const array = JSON.parse((await ask('sandbox-mini:streamGenerateContent', hello)).text);

  const events = text
    .trim()
    .split('\n\n')
    .map((event) => JSON.parse(event.slice('data: '.length)));
  const pieces = events.map(({ candidates }) => candidates[0].content.parts[0]?.text ?? '');
  expect(pieces.join('')).toBe(whole.candidates[0].content.parts[0].text);
  expect(array).toEqual(events);
  expect(whole).toMatchObject({ candidates: [{ finishReason: 'STOP' }], modelVersion: 'sandbox-mini' });
  expect(whole.usageMetadata.promptTokenCount).toBeGreaterThan(0);
});

test('several answers, whole and streamed, each under its index', async () => {
  const asked = { ...hello, generation_config: { candidate_count: 3 } };
  const whole = JSON.parse((await ask('sandbox-mini:generateContent', asked)).text);
  const events = JSON.parse((await ask('sandbox-mini:streamGenerateContent', asked)).text);

  const said = new Map<number, string>();
  for (const { index, content } of [events].flat().flatMap(({ candidates }) => candidates)) {
    said.set(index, (said.get(index) ?? '') + (content.parts[0]?.text ?? ''));
  }
  const texts = [0, 1, 2].map((index) => whole.candidates[index].content.parts[0].text);
  expect([...said].toSorted()).toEqual([...texts.entries()]);
  expect(new Set(texts).size).toBe(3);
});

const picture = { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } };
const words = { text: 'What is it?' };
const draw = { role: 'user', parts: [{ text: 'draw' }] };

test.each([
  ['an image', [{ parts: [picture, words] }]],
  ['audio', [{ parts: [{ inline_data: { mime_type: 'audio/wav', data: 'UklGRg==' } }, words] }]],
  [
    'a video, in part',
    [{ parts: [{ inlineData: { mimeType: 'video/mp4', data: '' }, videoMetadata: { fps: 1 } }, words] }],
  ],
  ["a file of Google's", [{ parts: [{ fileData: { fileUri: 'gs://bucket/a.mp4' } }, words] }]],
  ['the picture of an answer', [draw, { role: 'model', parts: [picture] }, { role: 'user', parts: [words] }]],
])('takes media: %s', async (_name, contents) => {
  const answer = await ask('sandbox-mini:generateContent', { contents });
  const count = await ask('sandbox-mini:countTokens', { contents });

  expect(JSON.parse(answer.text).candidates[0].content.parts[0].text).toContain('"What is it?"');
  const { totalTokens } = JSON.parse(count.text);
  expect(totalTokens).toBeGreaterThan(250);
  expect(JSON.parse(answer.text).usageMetadata.promptTokenCount).toBe(totalTokens);
});

test('media in the response of a function, and tools that Google runs itself', async () => {
  const call = { functionCall: { name: 'look', args: {} } };
  const response = { functionResponse: { name: 'look', response: { output: 'a leaf' }, parts: [picture] } };
  const contents = [draw, { role: 'model', parts: [call] }, { role: 'user', parts: [response] }];

  const answer = await ask('sandbox-tool:generateContent', {
    contents,
    tools: [{ googleSearch: {} }, { codeExecution: {} }],
  });

  expect(JSON.parse(answer.text).candidates[0].content.parts[0].text).toContain('"a leaf"');
});

test('lists its models in Google’s form', async () => {
  const list = await (await fetch(`${url}/v1beta/models`)).json();
  const stable = await fetch(`${url}/v1/models`, { headers: { 'x-goog-api-key': 'any' } });
  const one = await fetch(`${url}/v1beta/models/sandbox-mini`);

  expect(list).toMatchObject({ models: [{ name: 'models/sandbox-mini' }, ...Array(9).fill({})] });
  expect(await stable.json()).toEqual(list);
  expect(await one.json()).toMatchObject({ name: 'models/sandbox-mini' });
});

test.each([
  ['no content', 'sandbox-embed:embedContent', {}, 'content: expected'],
  [
    'vectors of no length',
    'sandbox-embed:embedContent',
    { content: { parts: [] }, output_dimensionality: 0 },
    'outputDimensionality',
  ],
  [
    'no number of answers',
    'sandbox-mini:generateContent',
    { ...hello, generationConfig: { candidateCount: 0 } },
    'candidateCount',
  ],
])('%s is refused', async (_name, path, body, said) => {
  const answer = await ask(path, body);

  expect(answer.status).toBe(400);
  expect(answer.text).toContain(said);
});

test('counts, embeds, and fails in the form of Google’s errors', async () => {
  const count = await ask('sandbox-mini:countTokens', hello);
  const one = await ask('sandbox-embed:embedContent', {
    content: { parts: [{ text: 'a' }] },
    output_dimensionality: 3,
  });
  const two = await ask('sandbox-embed:batchEmbedContents', {
    requests: [{ content: { parts: [{ text: 'a' }] } }, { content: { parts: [{ text: 'b' }] } }],
  });
  const failed = await ask('sandbox-error-429:generateContent', hello);

  expect(JSON.parse(count.text).totalTokens).toBeGreaterThan(0);
  expect(JSON.parse(one.text).embedding.values).toHaveLength(3);
  expect(JSON.parse(two.text).embeddings).toHaveLength(2);
  expect(JSON.parse(failed.text)).toMatchObject({ error: { code: 429, status: 'RESOURCE_EXHAUSTED' } });
});
