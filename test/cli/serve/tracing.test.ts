import { describe, expect, onTestFinished, test } from 'vitest';
import { tracingProblem, tracingSettings } from '../../../src/server/telemetry.ts';
import { chatAnswer, json, requestFor, speakAll } from '../../kit/answers.ts';
import { startCollector } from '../../kit/collector.ts';
import type { HostRequest, Script } from '../../kit/host.ts';
import { scale } from '../../kit/scale.ts';
import { ask, host, serve, withHost } from './workers/serving.ts';

const key = 'project-key-0123456789';

/** A gateway between a provider and a collector of traces, with more in its configuration. */
async function start({ workers = 1, rule = '', env = {}, script = speakAll as Script } = {}) {
  const receiver = await startCollector();
  onTestFinished(() => receiver.close());
  const provider = await host(script);
  const project = `projects: { shop: { keys: [{ id: web, value: "\${KEY}" }] } }\n`;
  const policy = rule && `policies: { house: { apply: all, rules: [${rule}] } }\n`;
  const gateway = await serve(`${withHost(provider, `workers: ${workers}`)}${project}${policy}`, [], {
    KEY: key,
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_BSP_SCHEDULE_DELAY: '100',
    ...env,
  });
  const send = async (headers: Record<string, string> = {}) => {
    const answer = await ask({ ...gateway, key }, requestFor('chat', 'gpt-test'), headers);
    await answer.text();
    return answer;
  };
  return { receiver, provider, gateway: { ...gateway, key }, send };
}

const traceId = '0af7651916cd43dd8448eb211c80319c';
const parent = { traceparent: `00-${traceId}-b7ad6b7169203331-01`, tracestate: 'congo=t61rcWkgMzE' };
const headerOf = ({ headers }: HostRequest, name: string) => headers.find(([each]) => each === name)?.[1];

describe.each(scale([1], [1, 2]))('with %i processes', (workers) => {
  test("an exchange continues its client's trace, and the provider continues that of its attempt", async () => {
    const env = { OTEL_SERVICE_NAME: 'team-gateway' };
    const cached = '{"prompt_tokens_details":{"cached_tokens":2},';
    const script = json(chatAnswer.replace('"usage":{', `"usage":${cached}`));
    const { receiver, provider, send } = await start({ workers, env, script });

    const answer = await send({ ...parent, 'x-gateway-session': 'nightly-7' });

    const spans = await receiver.until((all) => all.length >= 3);
    expect(spans).toHaveLength(3);
    const [exchange, decision, attempt] = ['POST chat', 'decision', 'attempt gpt'].map((name) =>
      spans.find((span) => span.name === name),
    );
    expect(spans.map((span) => span.traceId)).toEqual([traceId, traceId, traceId]);
    expect(exchange?.parentSpanId).toBe('b7ad6b7169203331');
    expect(decision?.parentSpanId).toBe(exchange?.spanId);
    expect(attempt?.parentSpanId).toBe(exchange?.spanId);
    expect(exchange).toMatchObject({
      kind: 2,
      isError: false,
      attributes: {
        'http.response.status_code': 200,
        'gateway.request_id': answer.headers.get('x-request-id'),
        'gateway.project': 'shop',
        'gen_ai.conversation.id': 'nightly-7',
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': 'gpt-test',
        'gen_ai.usage.input_tokens': 3,
        'gen_ai.usage.cache_read.input_tokens': 2,
        'gen_ai.usage.cache_creation.input_tokens': 0,
      },
      resource: { 'service.name': 'team-gateway' },
    });
    expect(decision?.attributes).toEqual({ 'gateway.decision': 'allow' });
    expect(attempt).toMatchObject({ kind: 3, attributes: { 'http.response.status_code': 200 } });
    expect((exchange?.ms ?? 0) >= (attempt?.ms ?? 0)).toBe(true);
    const sent = provider.requests[0] as HostRequest;
    expect(headerOf(sent, 'traceparent')).toBe(`00-${traceId}-${attempt?.spanId}-01`);
    expect(headerOf(sent, 'tracestate')).toBe('congo=t61rcWkgMzE');
  });
});

test('each attempt is a span of its own, with what became of it', async () => {
  let count = 0;
  const script: Script = (response, request) => {
    count += 1;
    if (count === 1) return response.writeHead(503, { 'retry-after': '0' }).end();
    return speakAll(response, request);
  };
  const { receiver, provider, send } = await start({ script });

  await send();

  const spans = await receiver.until((all) => all.length >= 4);
  const attempts = spans.filter(({ name }) => name === 'attempt gpt');
  expect(
    attempts.map(({ attributes, isError }) => [attributes['http.response.status_code'], isError]),
  ).toEqual([
    [503, true],
    [200, false],
  ]);
  const sent = provider.requests.map((request) => headerOf(request, 'traceparent')?.split('-')[2]);
  expect(sent).toEqual(attempts.map(({ spanId }) => spanId));
});

test('a refusal says which rule decided, and nothing of the content leaves in a trace', async () => {
  const rule =
    '{ id: no-codename, action: block, when: { text: { phrases: ["blue heron"] } }, reason: content.codename }';
  const { receiver, gateway } = await start({ rule });
  const body = (text: string) => ({ model: 'gpt-test', messages: [{ role: 'user', content: text }] });

  expect((await ask(gateway, body('the blue heron flies'))).status).toBe(403);
  expect((await ask(gateway, body('a secret plan'))).status).toBe(200);

  const spans = await receiver.until((all) => all.length >= 5);
  expect(
    spans.find(({ name, attributes }) => name === 'decision' && attributes['gateway.rules']),
  ).toMatchObject({
    attributes: { 'gateway.decision': 'block', 'gateway.rules': ['no-codename'] },
  });
  expect(
    spans.find(({ attributes }) => attributes['http.response.status_code'] === 403)?.attributes,
  ).toMatchObject({
    'error.type': 'content.codename',
  });
  for (const content of ['heron', 'secret plan', key]) expect(receiver.text).not.toContain(content);
});

test('the provider gets nothing of a trace id that a rule takes out, nor of what is no context', async () => {
  const rule = `{ id: no-ids, action: redact, when: { text: { regex: ['${traceId}'] } }, reason: content.id }`;
  const { receiver, provider, send } = await start({ rule });
  const contexts: readonly Record<string, string>[] = [
    parent,
    {},
    { traceparent: '00-XYZ', tracestate: 'congo=t61rcWkgMzE' },
    { traceparent: `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01` },
  ];

  for (const headers of contexts) await send(headers);

  const spans = await receiver.until((all) => all.length >= 3 * contexts.length);
  const own = spans
    .filter(({ name }) => name === 'attempt gpt')
    .map((attempt) => `00-${attempt.traceId}-${attempt.spanId}-01`);
  const sent = provider.requests.map((request) => headerOf(request, 'traceparent'));
  expect(sent[0]).toBeUndefined();
  expect(own).toHaveLength(contexts.length);
  for (const each of sent.slice(1)) expect(own).toContain(each);
  expect(provider.requests.map((request) => headerOf(request, 'tracestate'))).toEqual(
    Array(4).fill(undefined),
  );
});

test('a collector that is away is logged once, and delays neither answers nor the end for long', async () => {
  const { receiver, gateway, send } = await start();
  receiver.answerWith(400);

  for (let i = 0; i < 3; i += 1) await send();
  await gateway.child.wrote('traces cannot be sent');
  receiver.answerWith(200);
  await send();
  await gateway.child.wrote('traces are sent again');
  await receiver.close();
  await send();
  gateway.child.process.kill('SIGTERM');
  const { exit, stderr } = await gateway.child.ended;

  expect(exit).toBe(0);
  expect(stderr.split('traces cannot be sent').length - 1).toBeLessThanOrEqual(2);
});

test.each([
  [{}, undefined],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a' }, { timeoutMs: 3_000 }],
  [
    { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://a', OTEL_EXPORTER_OTLP_TIMEOUT: '5' },
    { timeoutMs: undefined },
  ],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a', OTEL_SDK_DISABLED: 'true' }, undefined],
])('%j asks for %j', (env, expected) => {
  expect(tracingSettings(env)).toEqual(expected);
});

test('a protocol that is not spoken is named', () => {
  expect(tracingProblem({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })).toContain('4318');
  expect(tracingProblem({ OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' })).toBeUndefined();
});
