import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import OpenAI, { AzureOpenAI } from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CloudHost, headerOf, startClouds } from '../kit/cloud-host.ts';
import { textDialects } from '../kit/dialects.ts';
import {
  anthropicClient,
  openaiClient,
  post,
  projects,
  secrets,
  startGateway,
  type TestGateway,
} from '../kit/gateway.ts';
import type { HostRequest } from '../kit/host.ts';
import { emptyDirectory } from '../kit/own-configuration.ts';
import { askBySdk } from '../kit/sdk-outcome.ts';

// The scripted clouds must satisfy the vendors' own clients before they may judge the gateway, which then gets its
// credentials by the vendors' own chains. Run by `npm run test:all`, which installs the packages of this folder.

const isInstalled =
  existsSync(join(import.meta.dirname, 'node_modules')) && process.env.NODE_PATH !== undefined;
const load = createRequire(join(import.meta.dirname, 'package.json'));

/** What is used of a client of Anthropic's for a cloud. */
interface Client {
  readonly messages: {
    create(request: unknown): Promise<unknown>;
    stream(request: unknown): { finalMessage(): Promise<{ readonly content: unknown }> };
  };
}
type NewClient = new (options: unknown) => Client;

const said = [{ type: 'text', text: 'Water it.' }];
const hello = { max_tokens: 100, messages: [{ role: 'user' as const, content: 'hello' }] };
const model = 'us.anthropic.claude-test-v1:0';

describe.skipIf(!isInstalled)('clouds', () => {
  let cloud: CloudHost;
  let gateway: TestGateway;
  const last = () => cloud.calls.at(-1) as HostRequest;
  const before = { ...process.env };

  beforeAll(async () => {
    cloud = await startClouds();
    Object.assign(process.env, cloud.envIn(emptyDirectory()));
    gateway = await startGateway(`
providers:
  bedrock: { dialect: bedrock, base_url: "${cloud.url}", credentials: aws, region: us-east-1 }
  vertex: { dialect: vertex, base_url: "${cloud.url}/v1/projects/p/locations/us-east5", credentials: google }
  gemini: { dialect: gemini, base_url: "${cloud.url}/v1/projects/p/locations/global/publishers/google", credentials: google }
  azure: { dialect: openai, base_url: "${cloud.url}/openai/v1", credentials: azure }
  old-azure: { dialect: openai, base_url: "${cloud.url}/openai", credentials: azure, api_version: 2024-10-21 }
  foundry: { dialect: anthropic, base_url: "${cloud.url}/anthropic", credentials: azure }
models:
  - { match: vertex, provider: vertex, model: claude-test@20250101 }
  - { match: "gemini-*", provider: gemini }
  - { match: "gpt-*", provider: azure }
  - { match: old, provider: old-azure, model: gpt-test }
  - { match: foundry, provider: foundry, model: claude-test }
  - { match: "*", provider: bedrock }
${projects}`);
  });
  afterAll(async () => {
    process.env = before;
    await gateway?.stop();
    await cloud?.close();
  });

  /** Both ways of asking, by the vendor's client and by the gateway's; resolves with the two last requests. */
  async function askBoth(own: Client, ownModel: string, gatewayModel: string) {
    const request = { ...hello, model: ownModel };
    expect(await own.messages.create(request)).toMatchObject({ content: said });
    expect((await own.messages.stream(request).finalMessage()).content).toMatchObject(said);
    const theirs = last();
    const client = anthropicClient(gateway);
    expect(await client.messages.create({ ...hello, model: gatewayModel })).toMatchObject({ content: said });
    const final = await client.messages.stream({ ...hello, model: gatewayModel }).finalMessage();
    expect(final.content).toMatchObject(said);
    // Whether a colon in a path is escaped is left to its writer.
    expect(decodeURIComponent(last().target)).toBe(decodeURIComponent(theirs.target));
    return { theirs, ours: last() };
  }

  test("Bedrock: Anthropic's own client, and the gateway, signed and asking for the same", async () => {
    const { AnthropicBedrock } = load('@anthropic-ai/bedrock-sdk') as { AnthropicBedrock: NewClient };
    const own = new AnthropicBedrock({ baseURL: cloud.url, awsRegion: 'us-east-1', maxRetries: 0 });

    const { ours } = await askBoth(own, model, model);

    expect(headerOf(ours, 'authorization')).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/us-east-1\/bedrock\/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, Signature=[0-9a-f]{64}$/,
    );
    expect(headerOf(ours, 'x-amz-security-token')).toBe('aws-session-token-0123456789');
  });

  test("Bedrock: AWS' own client reads the same frames", async () => {
    const { BedrockRuntimeClient, InvokeModelWithResponseStreamCommand } = load(
      '@aws-sdk/client-bedrock-runtime',
    );
    const { NodeHttpHandler } = load('@smithy/node-http-handler'); // HTTP/1.1, as the gateway speaks it
    const client = new BedrockRuntimeClient({
      endpoint: cloud.url,
      region: 'us-east-1',
      requestHandler: new NodeHttpHandler(),
    });
    const body = JSON.stringify({ ...hello, anthropic_version: 'bedrock-2023-05-31' });
    const command = { modelId: model, body, contentType: 'application/json' };

    const streamed = await client.send(new InvokeModelWithResponseStreamCommand(command));

    const events: { type: string }[] = [];
    for await (const { chunk } of streamed.body) events.push(JSON.parse(Buffer.from(chunk.bytes).toString()));
    expect(events.map(({ type }) => type)).toContain('content_block_delta');
    expect(events.at(-1)?.type).toBe('message_stop');
  });

  test("Vertex: Anthropic's own client, and the gateway with workload identity, asking for the same", async () => {
    const { AnthropicVertex } = load('@anthropic-ai/vertex-sdk') as { AnthropicVertex: NewClient };
    const own = new AnthropicVertex({
      baseURL: `${cloud.url}/v1`,
      region: 'us-east5',
      projectId: 'p',
      maxRetries: 0,
    });

    const { theirs, ours } = await askBoth(own, 'claude-test@20250101', 'vertex');

    for (const name of ['authorization', 'x-goog-user-project'])
      expect(headerOf(ours, name)).toBe(headerOf(theirs, name));
    expect(headerOf(ours, 'x-goog-user-project')).toBe('payer');
    expect(JSON.parse(ours.body.toString())).toEqual({
      anthropic_version: 'vertex-2023-10-16',
      ...hello,
      stream: true,
    });
    const counted = await anthropicClient(gateway).messages.countTokens({
      model: 'vertex',
      messages: hello.messages,
    });
    expect(counted.input_tokens).toBe(3);
    expect(last().target).toBe(
      '/v1/projects/p/locations/us-east5/publishers/anthropic/models/count-tokens:rawPredict',
    );
  });

  test("Foundry: Anthropic's own client, and the gateway with managed identity, asking for the same", async () => {
    const { AnthropicFoundry } = load('@anthropic-ai/foundry-sdk') as { AnthropicFoundry: NewClient };
    const { DefaultAzureCredential, getBearerTokenProvider } = load('@azure/identity');
    const own = new AnthropicFoundry({
      baseURL: `${cloud.url}/anthropic`,
      azureADTokenProvider: getBearerTokenProvider(
        new DefaultAzureCredential(),
        'https://ai.azure.com/.default',
      ),
      maxRetries: 0,
    });

    const { theirs, ours } = await askBoth(own, 'claude-test', 'foundry');

    expect(headerOf(ours, 'authorization')).toBe(headerOf(theirs, 'authorization'));
    expect(headerOf(ours, 'x-api-key')).toBe('');
  });

  test("Azure: OpenAI's own clients, and the gateway with managed identity, asking for the same", async () => {
    const { DefaultAzureCredential, getBearerTokenProvider } = load('@azure/identity');
    const scope = 'https://cognitiveservices.azure.com/.default';
    const token = getBearerTokenProvider(new DefaultAzureCredential(), scope);
    const options = { maxRetries: 0, azureADTokenProvider: token };
    const old = new AzureOpenAI({ endpoint: cloud.url, apiVersion: '2024-10-21', ...options });
    const own = new OpenAI({ baseURL: `${cloud.url}/openai/v1`, apiKey: token, maxRetries: 0 });
    const client = openaiClient(gateway);
    const textOf = async ({ chat }: OpenAI, asked: string) => {
      const answer = await chat.completions.create({ model: asked, messages: hello.messages });
      return answer.choices[0]?.message.content;
    };

    expect(await textOf(old, 'gpt-test')).toBe('Water it.');
    const oldTarget = last().target;
    expect(await textOf(client, 'old')).toBe('Water it.');
    expect(last().target).toBe(oldTarget);
    for (const each of [own, client]) {
      expect(await textOf(each, 'gpt-test')).toBe('Water it.');
      const response = await each.responses.create({ model: 'gpt-test', input: 'hello' });
      expect(response.output_text).toBe('Water it.');
      const streamed = each.responses.stream({ model: 'gpt-test', input: 'hello' });
      expect((await streamed.finalResponse()).output_text).toBe('Water it.');
      expect(last().target).toBe('/openai/v1/responses');
      expect(headerOf(last(), 'authorization')).toBe('Bearer entra-token-0123456789');
    }
  });

  test("Gemini on Vertex: Google's own client, and the gateway, asking for the same", async () => {
    const { GoogleGenAI } = load('@google/genai');
    const own = new GoogleGenAI({
      vertexai: true,
      project: 'p',
      location: 'global',
      httpOptions: { baseUrl: cloud.url, apiVersion: 'v1' },
    });
    const throughGateway = new GoogleGenAI({
      apiKey: secrets.PROJECT_KEY,
      httpOptions: { baseUrl: gateway.url, apiVersion: 'v1beta' },
    });
    const request = { model: 'gemini-test', contents: 'hello' };

    const targets: string[][] = [];
    for (const client of [own, throughGateway]) {
      const begin = cloud.calls.length;
      expect((await client.models.generateContent(request)).text).toBe('Hello from gemini');
      let text = '';
      for await (const chunk of await client.models.generateContentStream(request)) text += chunk.text ?? '';
      expect(text).toBe('Grüße 👋 東京');
      expect((await client.models.countTokens(request)).totalTokens).toBe(3);
      targets.push(cloud.calls.slice(begin).map(({ target }) => target));
    }

    expect(targets[1]).toEqual(targets[0]);
    expect(targets[0]?.[0]).toBe(
      '/v1/projects/p/locations/global/publishers/google/models/gemini-test:generateContent',
    );
    expect(headerOf(last(), 'authorization')).toBe('Bearer google-token-0123456789');
    expect(headerOf(last(), 'x-goog-api-key')).toBe('');
  });

  describe.each([
    ['bedrock', model],
    ['vertex', 'vertex'],
    ['foundry', 'foundry'],
    ['azure', 'gpt-test'],
    ['gemini', 'gemini-test'],
  ])('clients of all dialects at %s', (name, asked) => {
    const [plain, streamed] =
      name === 'gemini' ? ['Hello from gemini', 'Grüße 👋 東京'] : ['Water it.', 'Water it.'];

    test.each(textDialects)('%s, streams included', async (client) => {
      const asking = { client, model: asked, option: 'text' } as const;
      const whole = await askBySdk(gateway, { ...asking, isStream: false });
      const pieces = await askBySdk(gateway, { ...asking, isStream: true });

      expect([whole.text, pieces.text]).toEqual([plain, streamed]);
    });
  });

  test('what a provider repeats of a token is masked, and no record has it', async () => {
    cloud.interrupt((response) =>
      response
        .writeHead(400, { 'content-type': 'application/json' })
        .end('{"message":"bad token google-token-0123456789"}'),
    );

    const answer = await post(gateway, '/v1/messages', { ...hello, model: 'vertex' });

    expect(await answer.text()).toContain('bad token [secret]');
    expect(JSON.stringify(gateway.records)).not.toContain('google-token');
    cloud.interrupt(undefined);
  });
});
