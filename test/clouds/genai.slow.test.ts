import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { startGateway, type TestGateway } from '../kit/gateway.ts';

// Google's SDK at the sandbox, which it must find nothing wrong with, and then the same through a gateway. Run by
// `npm run test:all`, which installs the packages of this folder.

const isInstalled = existsSync(join(import.meta.dirname, 'node_modules', '@google', 'genai'));
const load = createRequire(join(import.meta.dirname, 'package.json'));

let sandbox: Awaited<ReturnType<typeof startSandbox>>;
let gateway: TestGateway;

beforeAll(async () => {
  if (!isInstalled) return;
  sandbox = await startSandbox();
  gateway = await startGateway(`
providers: { sandbox: { dialect: sandbox } }
models: [{ match: "*", provider: sandbox }]
policies:
  house:
    rules:
      - { id: codename, action: block, when: { text: { phrases: ["project nightfall"] } }, reason: content.codename }
      - { id: echo, action: block, apply_to: [response], when: { text: { phrases: ["silver lake"] } }, reason: content.echo }
projects: { shop: { policies: [house], keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] } }
`);
});
afterAll(async () => {
  await sandbox?.close();
  await gateway?.stop();
});

function clientAt(baseUrl: string, apiKey: string) {
  const { GoogleGenAI } = load('@google/genai');
  return new GoogleGenAI({ apiKey, httpOptions: { baseUrl } });
}

const throughGateway = () => clientAt(gateway.url, gateway.key);
const places = [
  ['the sandbox', () => clientAt(sandbox.url, 'any')],
  ['a gateway', throughGateway],
] as const;
const model = 'sandbox-mini';

interface Chunk {
  readonly text?: string;
}

async function textOf(stream: AsyncIterable<Chunk>): Promise<string> {
  let text = '';
  for await (const chunk of stream) text += chunk.text ?? '';
  return text;
}

describe.skipIf(!isInstalled).each(places)('@google/genai at %s', (_name, client) => {
  test('gets an answer, whole and as a stream', async () => {
    const { models } = client();
    const request = { model, contents: 'hello', config: { systemInstruction: 'be brief' } };

    const whole = await models.generateContent(request);
    const streamed = await textOf(await models.generateContentStream(request));

    expect(whole.text).toContain('"hello"');
    expect(streamed).toBe(whole.text);
    expect(whole.candidates[0].finishReason).toBe('STOP');
    expect(whole.usageMetadata.promptTokenCount).toBeGreaterThan(0);
    expect(whole.modelVersion).toBe(model);
  });

  test('has a conversation', async () => {
    const chat = client().chats.create({ model });

    await chat.sendMessage({ message: 'one' });
    const text = await textOf(await chat.sendMessageStream({ message: 'two' }));

    expect(text).toContain('"two"');
    expect(chat.getHistory().map(({ role }: { role: string }) => role)).toEqual([
      ...['user', 'model', 'user', 'model'],
    ]);
  });

  test('calls a tool by itself, and answers with what it said', async () => {
    const calls: unknown[] = [];
    const parametersJsonSchema = {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
    };
    const tool = {
      tool: async () => ({ functionDeclarations: [{ name: 'look_up', parametersJsonSchema }] }),
      callTool: async (asked: readonly { name: string; id?: string }[]) => {
        calls.push(...asked);
        const response = { output: 'rain' };
        return asked.map(({ name, id }) => ({ functionResponse: { name, id, response } }));
      },
    };

    const answer = await client().models.generateContent({
      model: 'sandbox-tool',
      contents: 'weather?',
      config: { tools: [tool] },
    });

    expect(calls).toMatchObject([{ name: 'look_up', args: { city: expect.any(String) } }]);
    expect(answer.text).toContain('rain');
  });

  test('gets JSON by a schema, and thoughts', async () => {
    const { models } = client();

    const responseSchema = { type: 'OBJECT', properties: { name: { type: 'STRING' } }, required: ['name'] };
    const schema = { responseMimeType: 'application/json', responseSchema };
    const structured = await models.generateContent({ model, contents: 'a plant', config: schema });
    const config = { thinkingConfig: { includeThoughts: true } };
    const thinking = await models.generateContent({ model: 'sandbox-think', contents: 'why?', config });

    expect(JSON.parse(structured.text)).toEqual({ name: expect.any(String) });
    const parts: readonly { thought?: boolean }[] = thinking.candidates[0].content.parts;
    expect(parts.some(({ thought }) => thought === true)).toBe(true);
  });

  test('makes its own error of an error, and of a stream that breaks off', async () => {
    const { ApiError } = load('@google/genai');
    const { models } = client();

    const failed = models.generateContent({ model: 'sandbox-error-400', contents: 'hello' });
    const cut = models.generateContentStream({ model: 'sandbox-cut', contents: 'hello' }).then(textOf);

    await expect(failed).rejects.toBeInstanceOf(ApiError);
    await expect(failed).rejects.toMatchObject({ status: 400 });
    await expect(cut).rejects.toThrow();
  });
});

// Where all of a broken stream comes at once, fetch may report the broken connection and not what came before it.
describe.skipIf(!isInstalled)('@google/genai at a gateway', () => {
  test('is told what blocks a request, and an answer in the middle of its stream', async () => {
    const { models } = throughGateway();

    const request = models.generateContent({ model, contents: 'about project nightfall' });
    const answer = models.generateContentStream({ model, contents: 'on the silver lake' }).then(textOf);

    await expect(request).rejects.toMatchObject({
      status: 403,
      message: expect.stringMatching(/content\.codename/),
    });
    await expect(answer).rejects.toThrow(/content\.echo|terminated/);
  });

  test('is told of a wrong key, an unknown model and a cut', async () => {
    const wrong = clientAt(gateway.url, 'no-such-key').models.generateContent({ model, contents: 'hello' });
    const cut = throughGateway()
      .models.generateContentStream({ model: 'sandbox-cut', contents: 'x' })
      .then(textOf);

    await expect(wrong).rejects.toMatchObject({ status: 401 });
    await expect(cut).rejects.toThrow(/provider\.broken_response|terminated/);
  });

  test('lists the models that a key may use', async () => {
    const names: string[] = [];
    for await (const { name } of await throughGateway().models.list()) names.push(name);

    expect(names).toContain(`models/${model}`);
  });
});
