import { beforeEach, describe, expect, test } from 'vitest';
import { answerEvents, chunkFrame, exceptionFrame } from '../kit/amazon-stream.ts';
import { json, messagesAnswer } from '../kit/answers.ts';
import { anthropicClient, openaiClient, post, projects, startGateway } from '../kit/gateway.ts';
import { type HostRequest, type Script, startHost } from '../kit/host.ts';

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
const frames = answerEvents(['Water', ' it.']).map(chunkFrame);
const arn = 'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-test-v1:0';
const hello = { max_tokens: 100, messages: [{ role: 'user' as const, content: 'hello' }] };

const host = await startHost(whole);
const gateway = await startGateway(`
providers:
  bedrock: { dialect: bedrock, base_url: "${host.url}", api_key: "\${PROVIDER_KEY}", retries: { attempts: 1 } }
  old-azure: { dialect: openai, base_url: "${host.url}/openai", credentials: azure, api_key: "\${PROVIDER_KEY}", api_version: 2024-10-21 }
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
  - { match: "*.anthropic.*", provider: bedrock }
  - { match: "../*", provider: bedrock }
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

  test("ARNs are one segment; flags of the SDK's header are in the body, without those that Bedrock refuses", async () => {
    const before = gateway.records.length;

    await anthropicClient(gateway).beta.messages.create({
      model: 'profile',
      ...hello,
      betas: ['claude-code-20250219', 'interleaved-thinking-2025-05-14', 'advanced-tool-use-2025-11-20'],
    });

    expect(last().target).toBe(`/model/${encodeURIComponent(arn)}/invoke`);
    expect(JSON.parse(last().body.toString())).toEqual({
      anthropic_version: 'bedrock-2023-05-31',
      anthropic_beta: ['interleaved-thinking-2025-05-14', 'tool-search-tool-2025-10-19'],
      ...hello,
    });
    expect(header('anthropic-beta')).toBeUndefined();
    const record = (await gateway.recorded(before + 1)).at(-1);
    expect(record?.dropped).toEqual(['header:anthropic-beta claude-code-20250219']);
  });

  test('where the header is to be forwarded, all flags are', async () => {
    await anthropicClient(gateway).beta.messages.create({
      model: 'as-it-is',
      ...hello,
      betas: ['new-2099-01-01'],
    });

    expect(JSON.parse(last().body.toString()).anthropic_beta).toEqual(['new-2099-01-01']);
  });

  test('a name that would be another path is refused, and nothing is sent', async () => {
    const before = host.requests.length;

    const answer = await post(gateway, '/v1/messages', { model: '../x', ...hello });

    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('cannot stand in a path');
    expect(host.requests.length).toBe(before);
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

    const chunks = await openaiClient(gateway).chat.completions.create({
      model: 'profile',
      stream: true,
      messages: [{ role: 'user', content: 'hello' }],
    });

    let text = '';
    for await (const chunk of chunks) text += chunk.choices[0]?.delta.content ?? '';
    expect(text).toBe('Water it.');
    const body = JSON.parse(last().body.toString());
    expect(body).toMatchObject({ anthropic_version: 'bedrock-2023-05-31', messages: [{ role: 'user' }] });
    expect(Object.keys(body)).not.toContain('model');
    expect(Object.keys(body)).not.toContain('stream');
  });

  test.each([
    [
      'an exception in mid-answer',
      [...frames.slice(0, 3), exceptionFrame('throttlingException', 'slow down')],
      /slow down/,
    ],
    ['a frame that is cut', [...frames.slice(0, 3), (frames[3] as Buffer).subarray(0, 20)], /broken/],
    ['a wrong checksum', [...frames.slice(0, 3), damaged(frames[3] as Buffer)], /broken/],
    ['no end', frames.slice(0, 4), /in the middle/],
  ])('%s is the error of a stream that began', async (_, sent, said) => {
    host.script(stream(sent));

    const failed = anthropicClient(gateway)
      .messages.stream({ model: 'profile', ...hello })
      .finalMessage();

    await expect(failed).rejects.toThrow(said);
  });

  test.each([
    ['global.anthropic.claude-sonnet-4-5-20250929-v1:0', 69_000],
    ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 75_900],
    ['us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0', undefined],
  ])('%s costs what AWS takes for where it may be served', async (model, nanoUsd) => {
    await post(gateway, '/v1/messages', { model, ...hello });

    const record = await gateway.recordWhere((each) => each.model === model);
    expect(record.cost_usd).toBe(nanoUsd === undefined ? undefined : nanoUsd / 1e9);
  });

  test('throttling in its words is a 429 with the time to wait', async () => {
    const refusal = '{"message":"Too many requests, please wait before trying again."}';
    host.script(json(refusal, 429, { 'retry-after': '7', 'x-amzn-errortype': 'ThrottlingException' }));

    const answer = await post(gateway, '/v1/messages', { model: 'profile', ...hello });

    expect(answer.status).toBe(429);
    expect(answer.headers.get('retry-after')).toBe('7');
    expect(await answer.json()).toMatchObject({
      type: 'error',
      error: { type: 'rate_limit_error', message: 'Too many requests, please wait before trying again.' },
    });
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
  ['"0s"', '0'],
  ['38', null],
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

describe('keys are sent as each host wants them', () => {
  test.each([
    [
      'old',
      '/v1/chat/completions',
      '/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21',
      'api-key',
    ],
    [
      'old',
      '/v1/embeddings',
      '/openai/deployments/my-deployment/embeddings?api-version=2024-10-21',
      'api-key',
    ],
    ['old', '/v1/responses', '/openai/responses?api-version=2024-10-21', 'api-key'],
    ['new', '/v1/chat/completions', '/openai/v1/chat/completions', 'api-key'],
    ['foundry', '/v1/messages', '/anthropic/v1/messages', 'x-api-key'],
  ])('%s %s', async (model, path, target, name) => {
    host.script(json('{}'));

    await post(gateway, path, { model, input: 'hello', ...hello });

    expect(last().target).toBe(target);
    expect(header(name)).toBe('provider-secret-9876543210');
    expect(header('authorization')).toBeUndefined();
    const sent = JSON.parse(last().body.toString()).model;
    expect(sent).toBe(model === 'foundry' ? 'foundry' : 'my-deployment');
  });

  test('a Bedrock API key is a bearer token', async () => {
    await post(gateway, '/v1/messages', { model: 'mantle', ...hello });

    expect(header('authorization')).toBe('Bearer provider-secret-9876543210');
    expect(header('x-api-key')).toBeUndefined();
  });
});

function damaged(frame: Buffer): Buffer {
  const copy = Buffer.from(frame);
  copy[copy.length - 20] = (copy[copy.length - 20] as number) ^ 1;
  return copy;
}
