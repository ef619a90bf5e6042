import { afterEach, describe, expect, test } from 'vitest';
import { tracingProblem, tracingSettings } from '../../../src/server/telemetry.ts';
import { requestFor, speakAll } from '../../kit/answers.ts';
import { type Collector, startCollector } from '../../kit/collector.ts';
import type { HostRequest } from '../../kit/host.ts';
import { scale } from '../../kit/scale.ts';
import { ask, host, serve, withHost } from './workers/serving.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function collector(): Promise<Collector> {
  const started = await startCollector();
  closing.push(() => started.close());
  return started;
}

const key = 'project-key-0123456789';
const project = (more = '') => `projects: { shop: { ${more} keys: [{ id: web, value: "\${KEY}" }] } }\n`;

async function start(url: string, yaml: string, env: Readonly<Record<string, string>> = {}) {
  const gateway = await serve(yaml, [], {
    KEY: key,
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_BSP_SCHEDULE_DELAY: '100',
    ...env,
  });
  return { ...gateway, key };
}

const traceId = '0af7651916cd43dd8448eb211c80319c';
const parent = { traceparent: `00-${traceId}-b7ad6b7169203331-01`, tracestate: 'congo=t61rcWkgMzE' };
const headerOf = ({ headers }: HostRequest, name: string) => headers.find(([each]) => each === name)?.[1];

describe.each(scale([1], [1, 2]))('with %i processes', (workers) => {
  test("an exchange continues its client's trace, and the provider continues that of its attempt", async () => {
    const receiver = await collector();
    const provider = await host(speakAll);
    const yaml = `${withHost(provider, `workers: ${workers}`)}${project()}`;
    const gateway = await start(receiver.url, yaml, { OTEL_SERVICE_NAME: 'team-gateway' });

    const answer = await ask(gateway, requestFor('chat', 'gpt-test'), parent);
    await answer.text();

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
        'gen_ai.request.model': 'gpt-test',
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
  const receiver = await collector();
  let count = 0;
  const provider = await host((response, request) => {
    count += 1;
    if (count === 1) return response.writeHead(503, { 'retry-after': '0' }).end();
    return speakAll(response, request);
  });
  const gateway = await start(receiver.url, `${withHost(provider, 'workers: 1')}${project()}`);

  await (await ask(gateway, requestFor('chat', 'gpt-test'))).text();

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
  const receiver = await collector();
  const provider = await host(speakAll);
  const rule = `policies: { house: { apply: all, rules: [{ id: no-codename, action: block, when: { text: { phrases: ["blue heron"] } }, reason: content.codename }] } }\n`;
  const gateway = await start(receiver.url, `${withHost(provider, 'workers: 1')}${project()}${rule}`);
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
  const receiver = await collector();
  const provider = await host(speakAll);
  const rule = `policies: { house: { apply: all, rules: [{ id: no-ids, action: redact, when: { text: { regex: ['${traceId}'] } }, reason: content.id }] } }\n`;
  const gateway = await start(receiver.url, `${withHost(provider, 'workers: 1')}${project()}${rule}`);
  const contexts: readonly Record<string, string>[] = [
    parent,
    {},
    { traceparent: '00-XYZ', tracestate: 'congo=t61rcWkgMzE' },
    { traceparent: `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01` },
  ];

  for (const headers of contexts) await (await ask(gateway, requestFor('chat', 'gpt-test'), headers)).text();

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

test('what the client does not sample is neither sent nor sampled by the provider', async () => {
  const receiver = await collector();
  const provider = await host(speakAll);
  const gateway = await start(receiver.url, `${withHost(provider, 'workers: 1')}${project()}`);

  await (
    await ask(gateway, requestFor('chat', 'gpt-test'), { traceparent: `00-${traceId}-b7ad6b7169203331-00` })
  ).text();
  await (await ask(gateway, requestFor('chat', 'gpt-test'))).text();

  const spans = await receiver.until((all) => all.length >= 3);
  expect(spans.some((span) => span.traceId === traceId)).toBe(false);
  expect(headerOf(provider.requests[0] as HostRequest, 'traceparent')).toMatch(
    /^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-00$/,
  );
});

test('a collector that is away is logged once, and delays neither answers nor the end for long', async () => {
  const receiver = await collector();
  receiver.answerWith(400);
  const provider = await host(speakAll);
  const gateway = await start(receiver.url, `${withHost(provider, 'workers: 1')}${project()}`);

  for (let i = 0; i < 3; i += 1) {
    await (await ask(gateway, requestFor('chat', 'gpt-test'))).text();
  }
  await gateway.child.wrote('traces cannot be sent');
  receiver.answerWith(200);
  await (await ask(gateway, requestFor('chat', 'gpt-test'))).text();
  await gateway.child.wrote('traces are sent again');
  await receiver.close();
  await (await ask(gateway, requestFor('chat', 'gpt-test'))).text();
  gateway.child.process.kill('SIGTERM');
  const { exit, stderr } = await gateway.child.ended;

  expect(exit).toBe(0);
  expect(stderr.split('traces cannot be sent').length - 1).toBeLessThanOrEqual(2);
});

test.each([
  [{}, undefined],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: '' }, undefined],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a' }, { timeoutMs: 3_000 }],
  [
    { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://a', OTEL_EXPORTER_OTLP_TIMEOUT: '5' },
    { timeoutMs: undefined },
  ],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a', OTEL_SDK_DISABLED: 'true' }, undefined],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a', OTEL_TRACES_EXPORTER: 'none' }, undefined],
])('%j asks for %j', (env, expected) => {
  expect(tracingSettings(env)).toEqual(expected);
});

test('a protocol that is not spoken is named', () => {
  expect(tracingProblem({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })).toContain('4318');
  expect(tracingProblem({ OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' })).toBeUndefined();
});
