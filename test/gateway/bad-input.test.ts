import * as zlib from 'node:zlib';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { chatAnswer, json } from '../kit/answers.ts';
import { twoHosts } from '../kit/config.ts';
import { secrets } from '../kit/gateway.ts';
import { startHosts } from '../kit/lifecycle.ts';
import { head, type RawAnswer, RawConnection, sendRaw } from '../kit/raw.ts';

const server = `  port: 0
  allowed_hosts: [gateway.internal]
  allowed_origins: ["https://app.example.com"]
  limits: { head_timeout: 1s, body_idle_timeout: 200ms, body_timeout: 5m, body_size: 64KiB, pipelined: 2 }`;

const { anthropic, openai, gateway } = await startHosts(json(chatAnswer), (urls) =>
  twoHosts({ ...urls, server }),
);

const good = '{"model":"gpt-test","messages":[{"role":"user","content":"a secret prompt"}]}';
const path = '/v1/chat/completions';

// Whatever the server may print while it is attacked: nothing of it may be a key or a prompt.
const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
const printed = () => stderr.mock.calls.map(([text]) => Buffer.from(text).toString());
afterAll(() => stderr.mockRestore());

let forwardedBefore = 0;
beforeEach(() => {
  forwardedBefore = forwarded();
});

function forwarded(): number {
  return openai.requests.length + anthropic.requests.length;
}

interface Ask {
  readonly method?: string;
  readonly target?: string;
  readonly host?: string;
  /** Replaces the header with the key. */
  readonly key?: readonly string[];
  readonly type?: readonly string[];
  readonly headers?: readonly string[];
  readonly body?: string | Buffer;
  /** Replaces content-length. */
  readonly framing?: readonly string[];
}

/** A request that is good but for what the test says. */
function ask(bad: Ask): Promise<RawAnswer> {
  const body = Buffer.from(bad.body ?? good);
  const lines = [
    `${bad.method ?? 'POST'} ${bad.target ?? path} HTTP/1.1`,
    ...(bad.host === '' ? [] : [`Host: ${bad.host ?? '127.0.0.1'}`]),
    ...(bad.key ?? [`Authorization: Bearer ${secrets.PROJECT_KEY}`]),
    ...(bad.type ?? ['Content-Type: application/json']),
    ...(bad.headers ?? []),
    ...(bad.framing ?? [`Content-Length: ${body.length}`]),
  ];
  return sendRaw(gateway.port, head(...lines), body);
}

interface Expected {
  readonly status: number;
  readonly type: string;
  readonly reason: string;
  readonly param?: string;
}

/** The one shape of every refusal, and that nothing left the machine or leaked. */
async function expectRefusal(answer: RawAnswer, { status, type, reason, param }: Expected): Promise<void> {
  const text = answer.body.toString();
  const value = JSON.parse(text);
  expect(value).toEqual({
    type: 'error',
    error: { type, reason, message: expect.any(String), code: reason, param: param ?? null },
    request_id: expect.stringMatching(/^req_[0-9a-f]{30}$/),
  });
  expect(answer.status).toBe(status);
  expect(answer.isWhole).toBe(true);
  expect(value.error.message.length).toBeGreaterThan(10);
  const headers = Object.fromEntries(answer.headers);
  expect(headers).toMatchObject({
    'content-type': ['application/json'],
    'x-gateway-error': ['true'],
    'x-request-id': [value.request_id],
    'request-id': [value.request_id],
    'x-content-type-options': ['nosniff'],
  });
  if (status < 500 && status !== 408 && status !== 429) expect(headers['x-should-retry']).toEqual(['false']);
  if (status === 401) expect(headers['www-authenticate']).toEqual(['Bearer']);
  if (status === 503) expect(Number(headers['retry-after']?.[0])).toBeGreaterThan(0);
  expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
  const everything = [text, JSON.stringify(headers), JSON.stringify(gateway.records), ...printed()].join(
    '\n',
  );
  for (const secret of [...Object.values(secrets), 'a secret prompt', 'wrong-key-wrong-key']) {
    expect(everything).not.toContain(secret);
  }
  expect(everything).not.toMatch(/\bat (?:\S+ \()?(?:file:|\/|node:)|node_modules/);
  expect(forwarded()).toBe(forwardedBefore);
}

const invalid = { status: 400, type: 'invalid_request_error' } as const;
const unknownPath = { status: 404, type: 'not_found_error', reason: 'endpoint.unknown' };
const noKey = { status: 401, type: 'authentication_error', reason: 'key.missing' };
const tooLarge = { status: 413, type: 'request_too_large', reason: 'request.too_large' };
const tooLate = { status: 408, type: 'timeout_error', reason: 'request.timeout' };
const key = secrets.PROJECT_KEY;
const get = { method: 'GET', framing: [], body: '' } as const;

// A case or two for each step of a request. All the others are with the functions: receive, authenticate, check-origin,
// request, http/listen, http/body, json/strict-json, dialects/request-fields, and bypass.test.ts.
// biome-ignore format: a case a line
const refusals: readonly (readonly [string, Ask, Expected])[] = [
  ['another path', { target: '/v1/messages/' }, unknownPath],
  ['an address of another host', { target: 'http://example.com/v1/chat/completions' }, unknownPath],
  ['CONNECT', { method: 'CONNECT', target: 'example.com:443', framing: [], body: '' }, unknownPath],
  ['another method', { method: 'PUT', target: '/v1/messages' }, { status: 405, type: 'invalid_request_error', reason: 'method.not_allowed' }],
  ['an Upgrade, which is not followed', { headers: ['Connection: Upgrade', 'Upgrade: websocket'], body: '{' }, { ...invalid, reason: 'request.invalid_json' }],
  ['no key', { key: [] }, noKey],
  ['a key in the query', { key: [], target: `${path}?x-api-key=${key}` }, noKey],
  ['a key in a cookie', { key: [`Cookie: x-api-key=${key}`] }, noKey],
  ['no key for the list of models', { ...get, target: '/v1/models', key: [] }, noKey],
  ['no key for a model', { ...get, target: '/v1/models/gpt-test', key: [] }, noKey],
  ['no key for discovery', { ...get, target: '/v1/gateway/models', key: [] }, noKey],
  ['no key, before its body comes', { key: [], framing: ['Content-Length: 60000'], body: '{' }, noKey],
  ['no key, before 100-continue', { key: [], headers: ['Expect: 100-continue'], body: '', framing: ['Content-Length: 100'] }, noKey],
  ['a wrong key', { key: ['x-api-key: wrong-key-wrong-key'] }, { ...noKey, reason: 'key.invalid' }],
  ['an expired key', { key: [`x-api-key: ${secrets.OLD_KEY}`] }, { ...noKey, reason: 'key.expired' }],
  ['two keys', { key: [`x-api-key: ${key}`, `x-gateway-key: ${secrets.OTHER_KEY}`] }, { ...noKey, reason: 'key.conflict' }],
  ['a foreign Host', { host: 'example.com' }, { status: 421, type: 'invalid_request_error', reason: 'host.not_allowed' }],
  ['two Hosts', { headers: ['Host: example.com'] }, { ...invalid, reason: 'request.framing' }],
  ['a foreign Origin', { headers: ['Origin: https://example.com'] }, { status: 403, type: 'permission_error', reason: 'origin.not_allowed' }],
  ['a preflight', { ...get, method: 'OPTIONS', headers: ['Origin: https://example.com'], key: [] }, { status: 403, type: 'permission_error', reason: 'origin.not_allowed' }],
  ['another media type', { type: ['Content-Type: text/plain'] }, { status: 415, type: 'invalid_request_error', reason: 'request.media_type' }],
  ['an unknown encoding', { headers: ['Content-Encoding: compress'] }, { ...invalid, reason: 'request.encoding' }],
  ['another encoding than it says', { headers: ['Content-Encoding: gzip'] }, { ...invalid, reason: 'request.encoding' }],
  ['half a document', { body: '{"model":"gpt-test"' }, { ...invalid, reason: 'request.invalid_json' }],
  ['bytes that are no UTF-8', { body: Buffer.from('{"a":"\xff"}', 'latin1') }, { ...invalid, reason: 'request.encoding' }],
  ['a key twice', { body: '{"model":"a","messages":[],"model":"gpt-test"}' }, { ...invalid, reason: 'request.duplicate_key', param: '/model' }],
  ['no model', { body: '{"messages":[]}' }, { ...invalid, reason: 'request.field', param: '/model' }],
  ['no messages', { body: '{"model":"gpt-test"}' }, { ...invalid, reason: 'request.field', param: '/messages' }],
  ['an unknown model', { body: '{"model":"constructor","messages":[]}' }, { status: 404, type: 'not_found_error', reason: 'model.unknown', param: '/model' }],
  ['an announced body above the limit', { framing: ['Content-Length: 70000'], body: '{' }, tooLarge],
  ['chunks above the limit', { framing: ['Transfer-Encoding: chunked'], body: `4000\r\n${'x'.repeat(0x4000)}\r\n`.repeat(5) }, tooLarge],
  ['a body that is unpacked beyond the limit', { headers: ['Content-Encoding: gzip'], body: zlib.gzipSync(`{"a":"${'x'.repeat(1_000_000)}"}`) }, tooLarge],
  ['a body that stops coming', { framing: ['Content-Length: 100'], body: '{' }, tooLate],
  ['a head that is too large', { headers: [`X-A: ${'a'.repeat(20_000)}`] }, { status: 431, type: 'invalid_request_error', reason: 'request.headers_too_large' }],
  ['another expectation', { headers: ['Expect: 200-maybe'] }, { status: 417, type: 'invalid_request_error', reason: 'request.expectation' }],
];

test.each(refusals)('%s is refused', async (_name, bad, expected) => {
  await expectRefusal(await ask(bad), expected);
});

test('zstd that Node can’t read is 415, and anything else 400', async () => {
  const answer = await ask({ headers: ['Content-Encoding: zstd'] });

  const isRead = 'createZstdDecompress' in zlib;
  await expectRefusal(answer, {
    ...invalid,
    ...(isRead ? { reason: 'request.encoding' } : { status: 415, reason: 'request.media_type' }),
  });
});

test.each([
  ['gateway.internal:443', []],
  ['localhost:4100', ['Origin: http://localhost:4100']],
])('Host %s with %j passes to the next check', async (host, headers) => {
  await expectRefusal(await ask({ host, headers, body: '{' }), {
    ...invalid,
    reason: 'request.invalid_json',
  });
});

test('a head that does not end is 408', async () => {
  const connection = new RawConnection(gateway.port);
  await connection.write('POST /v1/messages HTTP/1.1\r\nHost: localhost\r\n');

  await expectRefusal(await connection.answer(), tooLate);
  await connection.closed;
});

test('after all of that the process answers as before', async () => {
  const health = await ask({ ...get, target: '/healthz', key: [] });
  const answer = await ask({});

  expect(health.status).toBe(200);
  expect(answer.status).toBe(200);
  expect(forwarded()).toBe(forwardedBefore + 1);
});
