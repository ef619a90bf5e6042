import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/sandbox.ts';

let sandbox: Awaited<ReturnType<typeof startSandbox>>;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.close());

async function ask(path: string, body: object): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${sandbox.url}/v1beta/models/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: answer.status, text: await answer.text() };
}

const hello = { contents: [{ role: 'user', parts: [{ text: 'hello' }] }] };
const tools = [
  { function_declarations: [{ name: 'look_up', parameters: { type: 'OBJECT', properties: {} } }] },
];

test('answers whole and as a stream with the same text', async () => {
  const whole = JSON.parse((await ask('sandbox-mini:generateContent', hello)).text);
  const { text } = await ask('sandbox-mini:streamGenerateContent?alt=sse', hello);

  const events = text.trim().split('\n\n');
  const pieces = events.map((event) => JSON.parse(event.slice(6)).candidates[0].content.parts[0]?.text ?? '');
  expect(pieces.join('')).toBe(whole.candidates[0].content.parts[0].text);
  expect(whole).toMatchObject({ candidates: [{ finishReason: 'STOP' }], modelVersion: 'sandbox-mini' });
  expect(whole.usageMetadata.promptTokenCount).toBeGreaterThan(0);
});

test('calls a tool that is written in snake_case', async () => {
  const { text } = await ask('sandbox-tool:generateContent', { ...hello, tools });

  expect(JSON.parse(text).candidates[0].content.parts).toMatchObject([
    { functionCall: { name: 'look_up', args: {} } },
  ]);
});

test('counts, embeds, and fails in the form of Google’s errors', async () => {
  const count = await ask('sandbox-mini:countTokens', hello);
  const one = await ask('sandbox-embed:embedContent', {
    content: { parts: [{ text: 'a' }] },
    outputDimensionality: 3,
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
