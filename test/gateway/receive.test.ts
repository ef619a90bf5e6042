import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../src/errors.ts';
import type { Exchange } from '../../src/gateway/exchange.ts';
import { checkMediaType, receive } from '../../src/gateway/receive.ts';
import { Subscribers } from '../../src/gateway/subscriber.ts';

const access = { allowedHosts: new Set<string>(), allowedOrigins: new Set<string>() };

/** What receive() finds, or what it says of the error that it throws. */
function ask(method: string, target: string, more: Readonly<Record<string, string | undefined>> = {}) {
  const headers: Readonly<Record<string, string | undefined>> = { host: '127.0.0.1', ...more };
  const request = { method, target, header: (name: string) => headers[name] };
  const exchange = {
    request,
    events: new Subscribers([]),
    scrubber: { text: (path: string) => path },
  } as unknown as Exchange; // all that it reads
  try {
    const { endpoint, pathModel, query } = receive(exchange, access);
    return { kind: endpoint.kind, path: endpoint.path, pathModel, query };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { code: error.code, message: error.message, headers: error.headers };
  }
}

test.each([
  ['POST', '/v1/messages', 'exchange'],
  ['POST', '/v1/messages/count_tokens', 'count'],
  ['POST', '/v1/chat/completions', 'exchange'],
  ['POST', '/v1/responses', 'exchange'],
  ['POST', '/v1/embeddings', 'exchange'],
  ['GET', '/v1/models', 'models'],
  ['GET', '/v1/models/org/model:free', 'model'],
  ['GET', '/v1/models/a%2Fb', 'model'],
  ['GET', '/v1/gateway/models', 'discovery'],
  ['GET', '/healthz', 'health'],
  ['GET', '/readyz', 'ready'],
  ['GET', '/', 'about'],
  ['GET', '/api/hello', 'about'],
])('%s %s is %s', (method, target, kind) => {
  expect(ask(method, target)).toMatchObject({ kind, query: '' });
});

test.each([
  ['/v1/messages?beta=true', '/v1/messages', 'beta=true'],
  ['/v1/messages?', '/v1/messages', ''],
  ['/v1/messages?a=/v1/models?b', '/v1/messages', 'a=/v1/models?b'],
])('the query of %s decides nothing', (target, path, query) => {
  expect(ask('POST', target)).toEqual({ kind: 'exchange', path, query });
});

// biome-ignore format: they are alike
test.each([
  '/v1/messages/', '//v1/messages', '/v1//messages', '/v1/./messages', '/v1/../v1/messages', '/v1/x/%2e%2e/messages',
  '/v1/%6dessages', '/v1%2fmessages', '/v1/messages%20', '/v1/messages%00', '/v1/messages%3fbeta=true',
  '/v1/messages;a', '/v1/messages.json', '/V1/messages', '/v1/Messages', '/v1/message', '/v1', '/v2/messages',
  '/messages', '/v1/models/', '/v1/completions', '/healthz/', '/constructor', '/__proto__', '/v1\\messages',
  'http://127.0.0.1/v1/messages', 'https://api.anthropic.com/v1/messages', '//127.0.0.1/v1/messages', '*',
])('%s is unknown', (target) => {
  expect(ask('POST', target)).toMatchObject({ code: 'endpoint.unknown' });
});

test.each([
  ['/chat/completions', 'lacks its /v1'],
  ['/models', 'lacks its /v1'],
  ['/v1//messages', 'a slash too many'],
  ['//v1/messages', 'a slash too many'],
  ['/v1/messages/', 'a slash too many'],
  ['//chat/completions', 'a slash too many'],
  ['/v1/v1/messages', 'has /v1 too much: take that off the base URL'],
  ['/v1/v1/messages/', 'has /v1 too much'],
  ['/v1/chat/completions/chat/completions', 'has /chat/completions too much'],
  ['/v1/messages/v1/messages', 'has /v1/messages too much'],
  ['/openai/v1/responses', 'has /openai too much'],
  ['/api/v1/models', 'has /api too much'],
  ['/v1/v1beta/models/m:generateContent', 'has /v1 too much'],
  ['/v1beta/v1beta/models/m:generateContent', 'has /v1beta too much'],
  ['/V1/chat/completions', 'in lower case'],
  ['/V1/Messages/', 'in lower case'],
  ['/V1beta/models/m:generateContent', 'in lower case'],
  ['/Chat/completions', 'in lower case'],
  ['/api/V1/chat/completions', 'has /api too much'],
  ['/V1/messages/v1/messages', 'has /V1/messages too much'],
  ['/V1/chat/completions/chat/completions', 'has /chat/completions too much'],
  ['/v1/completions', 'this API is not served; use /v1/chat/completions'],
  ['/completions/', 'use /v1/chat/completions'],
  ['/healthz/', 'a slash too many'],
  ['/v1/nothing', 'GET / lists all paths'],
  ['/v1/nothing/at/all', 'GET / lists all paths'],
])('%s: the hint says %s', (target, hint) => {
  expect(ask('POST', target)).toMatchObject({
    code: 'endpoint.unknown',
    message: expect.stringContaining(hint),
  });
});

test.each([
  ['GET', '/v1/messages', 'POST'],
  ['OPTIONS', '/v1/messages', 'POST'],
  ['POST', '/v1/models', 'GET, HEAD'],
  ['DELETE', '/v1/models/x', 'GET, HEAD'],
  ['POST', '/', 'GET, HEAD'],
  ['PUT', '/healthz', 'GET, HEAD'],
])('%s %s is not allowed, %s is', (method, target, allow) => {
  expect(ask(method, target)).toMatchObject({ code: 'method.not_allowed', headers: { allow } });
});

test.each(['/v1/responses', '/v1/chat/completions'])(
  'a WebSocket on %s is refused in favour of HTTP',
  (path) => {
    expect(ask('GET', path, { connection: 'Upgrade', upgrade: 'websocket' })).toMatchObject({
      code: 'request.upgrade',
      headers: { upgrade: 'HTTP/1.1' },
    });
  },
);

test.each([
  ['origin.not_allowed', { origin: 'http://evil.example' }],
  ['host.not_allowed', { host: 'evil.example' }],
])('%s comes before the path: %j', (code, headers) => {
  expect(ask('POST', '/nowhere', headers)).toMatchObject({ code });
});

describe.each(['/healthz', '/readyz'])('%s', (path) => {
  test.each(['GET', 'HEAD'])('is answered to %s for any Host, and none', (method) => {
    for (const host of ['10.0.3.17:4100', 'lb.internal', undefined]) {
      expect(ask(method, path, { host }), host).toMatchObject({ path });
    }
  });

  test('with a slash too many says so for any Host', () => {
    expect(ask('GET', `${path}/`, { host: 'lb.internal' })).toMatchObject({
      code: 'endpoint.unknown',
      message: expect.stringContaining('a slash too many'),
    });
  });

  test('is not for pages of other origins', () => {
    for (const host of ['10.0.3.17', '127.0.0.1']) {
      expect(ask('GET', path, { host, origin: 'http://evil.example' })).toMatchObject({
        code: 'origin.not_allowed',
      });
    }
  });
});

test.each(['/', '/v1/models', '/api/hello', '/healthz/x/', '/readyz/x', '/v1/messages'])(
  '%s wants a known Host',
  (path) => {
    expect(ask('GET', path, { host: '10.0.3.17' })).toMatchObject({ code: 'host.not_allowed' });
    expect(ask('GET', path, { host: undefined })).toMatchObject({ code: 'host.not_allowed' });
  },
);

describe('content-type', () => {
  const check = (value: string | undefined) => () =>
    checkMediaType({ header: (name) => (name === 'content-type' ? value : undefined) });

  test.each([
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json ; charset="utf-8"',
  ])('%s is taken', (value) => {
    expect(check(value)).not.toThrow();
  });

  test.each([
    undefined,
    '',
    'text/plain',
    'text/plain;application/json',
    'application/json, text/plain',
    'application/jsonp',
    'application/json; charset=latin1',
    'application/json; charset=utf-8; charset=utf-16',
    'application/json; boundary=x',
    'application/vnd.api+json',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    `application/json${' '.repeat(15_000)}x`,
  ])('%j is refused', (value) => {
    expect(check(value)).toThrow('content-type must be application/json');
  });
});
