import { beforeEach, describe, expect, test } from 'vitest';
import { chunkFrame, exceptionFrame } from '../kit/amazon-stream.ts';
import { json, messagesAnswer } from '../kit/answers.ts';
import { anthropicClient, post, projects, secrets, startGateway } from '../kit/gateway.ts';
import { type HostRequest, type Script, startHost } from '../kit/host.ts';
import { bedrockEvents } from './masking/saying.ts';

// Clouds whose paths, bodies or streams are not those of the dialect, here with keys; test/clouds has the credentials
// that end, and holds the hosts to the vendors' own clients.

const whole = json(messagesAnswer);
const stream =
  (frames: readonly Buffer[]): Script =>
  (response) => {
    response.writeHead(200, {
      'content-type': 'application/vnd.amazon.eventstream',
      'x-amzn-requestid': 'amazon-1',
    });
    response.end(Buffer.concat(frames));
  };
const frames = bedrockEvents(['Water', ' it.']).map(chunkFrame);
const arn = 'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-test-v1:0';
const hello = { max_tokens: 100, messages: [{ role: 'user' as const, content: 'hello' }] };

const host = await startHost(whole);
const gateway = await startGateway(`
providers:
  bedrock: { dialect: bedrock, base_url: "${host.url}", api_key: "\${PROVIDER_KEY}", retries: { attempts: 1 } }
  old-azure: { dialect: openai, base_url: "${host.url}/openai", credentials: azure, api_key: "\${PROVIDER_KEY}", api_version: 2024-10-21, endpoints: [chat, responses, embeddings] }
  azure: { dialect: openai, base_url: "${host.url}/openai/v1", credentials: azure, api_key: "\${PROVIDER_KEY}" }
  foundry: { dialect: anthropic, base_url: "${host.url}/anthropic", credentials: azure, api_key: "\${PROVIDER_KEY}" }
  mantle: { dialect: anthropic, base_url: "${host.url}/anthropic", credentials: aws, api_key: "\${PROVIDER_KEY}" }
  gemini: { dialect: gemini, base_url: "${host.url}", api_key: "\${PROVIDER_KEY}", retries: { attempts: 1 } }
  forwarding: { dialect: bedrock, base_url: "${host.url}", api_key: "\${PROVIDER_KEY}", forward_headers: [anthropic-beta] }
models:
  - { match: as-it-is, provider: forwarding }
  - { match: "gemini-*", provider: gemini }
  - { match: spare, provider: bedrock, model: anthropic.spare, fallbacks: [{ provider: foundry }] }
  - { match: profile, provider: bedrock, model: "${arn}" }
  - { match: "anthropic.*", provider: bedrock }
  - { match: old, provider: old-azure, model: my-deployment }
  - { match: new, provider: azure, model: my-deployment }
  - { match: foundry, provider: foundry }
  - { match: mantle, provider: mantle }
${projects}`);
beforeEach(() => host.script(whole));
const last = () => host.requests.at(-1) as HostRequest;
const header = (name: string) => last().headers.find(([key]) => key === name)?.[1];

describe('Bedrock by InvokeModel', () => {
  test("the body is the client's without model and stream, the path has the name", async () => {
    const body =
      '{"model":"anthropic.claude-test-v1:0", "max_tokens":100,"messages":[{"role":"user","content":"h\\u00e9"}]}';

    const answer = await post(gateway, '/v1/messages', body, {
      headers: { 'anthropic-version': '2023-06-01' },
    });

    expect(await answer.text()).toBe(messagesAnswer);
    expect(answer.headers.get('x-gateway-body')).toBe('spliced');
    expect(last().target).toBe('/model/anthropic.claude-test-v1%3A0/invoke');
    expect(last().body.toString()).toBe(
      '{"anthropic_version":"bedrock-2023-05-31","max_tokens":100,"messages":[{"role":"user","content":"h\\u00e9"}]}',
    );
    expect(header('authorization')).toBe('Bearer provider-secret-9876543210');
    expect(header('anthropic-version')).toBeUndefined();
  });

  test.each([
    // Without those that Bedrock refuses.
    [
      'profile',
      ['claude-code-20250219', 'interleaved-thinking-2025-05-14', 'advanced-tool-use-2025-11-20'],
      ['interleaved-thinking-2025-05-14', 'tool-search-tool-2025-10-19'],
      ['header:anthropic-beta claude-code-20250219'],
    ],
    // All, where the header is to be forwarded.
    ['as-it-is', ['new-2099-01-01'], ['new-2099-01-01'], undefined],
  ])("flags of the SDK's header are in the body for %s", async (model, betas, sent, dropped) => {
    const before = gateway.records.length;

    await anthropicClient(gateway).beta.messages.create({ model, ...hello, betas });

    expect(JSON.parse(last().body.toString())).toEqual({
      anthropic_version: 'bedrock-2023-05-31',
      anthropic_beta: sent,
      ...hello,
    });
    expect(header('anthropic-beta')).toBeUndefined();
    expect((await gateway.recorded(before + 1)).at(-1)?.dropped).toEqual(dropped);
  });

  test('the SDK reads its event stream', async () => {
    host.script(stream(frames));

    const answer = anthropicClient(gateway).messages.stream({ model: 'profile', ...hello });

    const final = await answer.finalMessage();
    expect(final.content).toMatchObject([{ type: 'text', text: 'Water it.' }]);
    expect(final.usage).toMatchObject({ input_tokens: 3, output_tokens: 4 });
    expect(answer.response?.headers.get('x-provider-request-id')).toBe('amazon-1');
    expect(last().target).toBe(`/model/${encodeURIComponent(arn)}/invoke-with-response-stream`);
    const record = (await gateway.recorded(1)).at(-1);
    expect(record).toMatchObject({ provider: 'bedrock', usage: { input_tokens: 3, output_tokens: 4 } });
  });

  test('requests of the chat dialect are translated to it, streams included', async () => {
    host.script(stream(frames));

    const answer = await post(gateway, '/v1/chat/completions', { model: 'profile', stream: true, ...hello });

    expect(await answer.text()).toMatch(/"content":"Water".*"content":" it\.".*\[DONE\]/s);
    expect(JSON.parse(last().body.toString())).toEqual({
      anthropic_version: 'bedrock-2023-05-31',
      max_tokens: 100,
      messages: [{ role: 'user', content: expect.anything() }],
    });
  });

  test.each([
    [
      'an exception',
      [...frames.slice(0, 3), exceptionFrame('throttlingException', 'slow down')],
      /slow down/,
    ],
    ['no end', frames.slice(0, 4), /in the middle/],
  ])('%s is the error of a stream that began', async (_, sent, said) => {
    host.script(stream(sent));

    const failed = anthropicClient(gateway)
      .messages.stream({ model: 'profile', ...hello })
      .finalMessage();

    await expect(failed).rejects.toThrow(said);
  });
});

test('a model that failed at Bedrock is an error of its, and a fallback is asked', async () => {
  const failure = '{"message":"The model failed.","originalStatusCode":500}';
  const failed = json(failure, 424, { 'x-amzn-errortype': 'ModelErrorException' });
  host.script((response, request) =>
    (request.target.startsWith('/model/') ? failed : whole)(response, request),
  );

  const alone = await post(gateway, '/v1/messages', { model: 'profile', ...hello });
  const spare = await post(gateway, '/v1/messages', { model: 'spare', ...hello });

  expect([alone.status, await alone.json()]).toMatchObject([
    424,
    { error: { type: 'api_error', message: 'The model failed.' } },
  ]);
  expect([spare.status, spare.headers.get('x-gateway-provider')]).toEqual([200, 'foundry']);
});

test.each([
  ['"38.2s"', '39'],
  ['"soon"', null],
])('what Google says in the body of how long to wait is a header: %s', async (retryDelay, seconds) => {
  const info = `{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":${retryDelay}}`;
  const error = `"code":429,"message":"Quota exceeded.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"x"},${info}]`;
  host.script(json(`{"error":{${error}}}`, 429));

  const answer = await post(gateway, '/v1/messages', { model: 'gemini-test', ...hello });

  expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, seconds]);
  expect(await answer.json()).toMatchObject({
    error: { type: 'rate_limit_error', message: 'Quota exceeded.' },
  });
});

test('why credentials are refused is in the record, without them', async () => {
  const told = 'provider-secret-9876543210 is not authorized to perform: bedrock:InvokeModel';
  host.script(json(`{"Message":"${told}"}`, 403));

  const answer = await post(gateway, '/v1/messages', { model: 'profile', ...hello });

  expect(answer.status).toBe(502);
  expect(await answer.text()).not.toContain('bedrock:InvokeModel');
  const { cause } = await gateway.recordWhere(({ reason }) => reason === 'provider.credentials_rejected');
  expect(cause).toBe('[secret] is not authorized to perform: bedrock:InvokeModel');
});

const ofVersion = 'api-version=2024-10-21';
const deployment = '/openai/deployments/my-deployment';
const bearer = `Bearer ${secrets.PROVIDER_KEY}`;

describe('keys are sent as each host wants them', () => {
  // biome-ignore format: a case a line
  test.each([
    ['old', '/v1/chat/completions', `${deployment}/chat/completions?${ofVersion}`, { 'api-key': secrets.PROVIDER_KEY }],
    ['old', '/v1/embeddings', `${deployment}/embeddings?${ofVersion}`, { 'api-key': secrets.PROVIDER_KEY }],
    ['old', '/v1/responses', `/openai/responses?${ofVersion}`, { 'api-key': secrets.PROVIDER_KEY }],
    ['new', '/v1/chat/completions', '/openai/v1/chat/completions', { 'api-key': secrets.PROVIDER_KEY }],
    ['foundry', '/v1/messages', '/anthropic/v1/messages', { 'x-api-key': secrets.PROVIDER_KEY }],
    ['mantle', '/v1/messages', '/anthropic/v1/messages', { authorization: bearer }],
  ] as const)('%s %s', async (model, path, target, keys) => {
    host.script(json('{}'));

    await post(gateway, path, { model, input: 'hello', ...hello });

    const carriers = ['api-key', 'x-api-key', 'authorization'];
    const sent = last().headers.filter(([name]) => carriers.includes(name));
    expect(last().target).toBe(target);
    expect(Object.fromEntries(sent)).toEqual(keys);
    const isRenamed = model === 'old' || model === 'new';
    expect(JSON.parse(last().body.toString()).model).toBe(isRenamed ? 'my-deployment' : model);
  });
});
