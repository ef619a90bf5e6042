import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answerEvents, chunkFrame } from '../kit/amazon-stream.ts';
import { anthropicClient, projects, startGateway, type TestGateway } from '../kit/gateway.ts';
import { type HostRequest, type ScriptedHost, startHost } from '../kit/host.ts';

// The scripted hosts must satisfy the vendors' own clients before they may judge the gateway, which then gets its
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

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-test',
  content: [{ type: 'text', text: 'Water it.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 12, output_tokens: 7 },
};
const events = answerEvents(['Water', ' it.']);
const said = [{ type: 'text', text: 'Water it.' }];
const hello = { max_tokens: 100, messages: [{ role: 'user' as const, content: 'hello' }] };
const model = 'us.anthropic.claude-test-v1:0';

const googleToken = {
  access_token: 'google-token-0123456789',
  issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
  expires_in: 3600,
  token_type: 'Bearer',
};

/** Bedrock and Vertex, and the token endpoint of Google: by what is asked. */
const answer: Parameters<typeof startHost>[0] = (response, { target }) => {
  if (target === '/token') {
    response.writeHead(200, { 'content-type': 'application/json' });
    return response.end(JSON.stringify(googleToken));
  }
  if (target.endsWith('/invoke-with-response-stream')) {
    response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' });
    return response.end(Buffer.concat(events.map(chunkFrame)));
  }
  if (target.endsWith(':streamRawPredict')) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    return response.end(
      events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
    );
  }
  response.writeHead(200, { 'content-type': 'application/json' });
  return response.end(JSON.stringify(message));
};

describe.skipIf(!isInstalled)('clouds', () => {
  let host: ScriptedHost;
  let gateway: TestGateway;
  const last = () => host.requests.at(-1) as HostRequest;
  const header = (name: string) => last().headers.find(([key]) => key === name)?.[1] ?? '';
  const before = { ...process.env };

  beforeAll(async () => {
    host = await startHost(answer);
    const folder = mkdtempSync(join(tmpdir(), 'gateway-clouds-'));
    const file = join(folder, 'workload.json');
    writeFileSync(join(folder, 'subject-token'), 'subject-token-0123456789');
    const account = {
      type: 'external_account',
      audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      token_url: `${host.url}/token`,
      credential_source: { file: join(folder, 'subject-token') },
    };
    writeFileSync(file, JSON.stringify(account), { mode: 0o600 });
    Object.assign(process.env, {
      AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
      AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
      AWS_SESSION_TOKEN: 'aws-session-token-0123456789',
      GOOGLE_APPLICATION_CREDENTIALS: file,
      GOOGLE_CLOUD_PROJECT: 'p', // for the client, which asks Google otherwise
    });
    gateway = await startGateway(`
providers:
  bedrock: { dialect: bedrock, base_url: "${host.url}", credentials: aws, region: us-east-1 }
  vertex: { dialect: vertex, base_url: "${host.url}/v1/projects/p/locations/us-east5", credentials: google }
models:
  - { match: vertex, provider: vertex, model: claude-test@20250101 }
  - { match: "*", provider: bedrock }
${projects}`);
  });
  afterAll(async () => {
    process.env = before;
    await gateway?.stop();
    await host?.close();
  });

  test("Bedrock: Anthropic's own client, AWS' own, and the gateway, signed and asking for the same", async () => {
    const { AnthropicBedrock } = load('@anthropic-ai/bedrock-sdk') as {
      AnthropicBedrock: new (options: unknown) => Client;
    };
    const own = new AnthropicBedrock({ baseURL: host.url, awsRegion: 'us-east-1', maxRetries: 0 });
    expect(await own.messages.create({ model, ...hello })).toMatchObject({ content: said });
    expect((await own.messages.stream({ model, ...hello }).finalMessage()).content).toMatchObject(said);
    const { BedrockRuntimeClient, InvokeModelWithResponseStreamCommand } = load(
      '@aws-sdk/client-bedrock-runtime',
    );
    const { NodeHttpHandler } = load('@smithy/node-http-handler'); // HTTP/1.1, as the gateway speaks it
    const client = new BedrockRuntimeClient({
      endpoint: host.url,
      region: 'us-east-1',
      requestHandler: new NodeHttpHandler(),
    });
    const command = { modelId: model, body: JSON.stringify(hello), contentType: 'application/json' };
    const streamed = await client.send(new InvokeModelWithResponseStreamCommand(command));
    let chunks = 0;
    for await (const { chunk } of streamed.body) chunks += chunk === undefined ? 0 : 1;
    expect(chunks).toBe(events.length);
    const asked = last().target;

    const final = await anthropicClient(gateway)
      .messages.stream({ model, ...hello })
      .finalMessage();

    expect(final.content).toMatchObject(said);
    expect(last().target).toBe(asked);
    expect(header('authorization')).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/us-east-1\/bedrock\/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, Signature=[0-9a-f]{64}$/,
    );
    expect(header('x-amz-security-token')).toBe('aws-session-token-0123456789');
  });

  test("Vertex: Anthropic's own client, and the gateway with workload identity, asking for the same", async () => {
    const { AnthropicVertex } = load('@anthropic-ai/vertex-sdk') as {
      AnthropicVertex: new (options: unknown) => Client;
    };
    const own = new AnthropicVertex({
      baseURL: `${host.url}/v1`,
      region: 'us-east5',
      projectId: 'p',
      maxRetries: 0,
    });
    const request = { model: 'claude-test@20250101', ...hello };
    expect(await own.messages.create(request)).toMatchObject({ content: said });
    expect((await own.messages.stream(request).finalMessage()).content).toMatchObject(said);
    const asked = last().target;
    const authorization = header('authorization');

    const final = await anthropicClient(gateway)
      .messages.stream({ ...hello, model: 'vertex' })
      .finalMessage();

    expect(final.content).toMatchObject(said);
    expect(last().target).toBe(asked);
    expect(header('authorization')).toBe(authorization);
    expect(JSON.parse(last().body.toString())).toEqual({ anthropic_version: 'vertex-2023-10-16', ...hello });
  });

  test('what a provider repeats of a token is masked, and no record has it', async () => {
    host.script((response) =>
      response
        .writeHead(400, { 'content-type': 'application/json' })
        .end('{"message":"bad token google-token-0123456789"}'),
    );

    const failed = anthropicClient(gateway).messages.create({ ...hello, model: 'vertex' });

    await expect(failed).rejects.toThrow('bad token [secret]');
    expect(JSON.stringify(gateway.records)).not.toContain('google-token');
    host.script(answer);
  });
});
