import { afterAll, beforeAll, expect, test } from 'vitest';
import { GatewayError } from '../../src/errors.ts';
import { Exchange } from '../../src/gateway/exchange.ts';
import { receive } from '../../src/gateway/receive.ts';
import { defaultListenLimits, type Listener, listen } from '../../src/http/listen.ts';
import type { HttpRequest } from '../../src/http/request.ts';
import type { HttpResponse } from '../../src/http/response.ts';
import { RawConnection } from '../http/raw-connection.ts';

const access = { allowedHosts: new Set<string>(), allowedOrigins: new Set<string>() };
let listener: Listener;

/** Answers with what receive() found, or with the error it threw. */
function answer(request: HttpRequest, response: HttpResponse): void {
  const found = (() => {
    try {
      const { endpoint, pathModel, query } = receive(new Exchange(request, response), access);
      return { kind: endpoint.kind, path: endpoint.path, pathModel, query };
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return { code: error.code, message: error.message, headers: error.headers };
    }
  })();
  const body = Buffer.from(JSON.stringify(found));
  response.writeHead(200, ['content-length', String(body.length)]);
  response.end(body);
}

beforeAll(async () => {
  listener = await listen({ host: '127.0.0.1', port: 0, limits: defaultListenLimits, onRequest: answer });
});
afterAll(() => listener.drain());

async function ask(method: string, target: string, ...headers: string[]): Promise<Record<string, unknown>> {
  const connection = new RawConnection(listener.port);
  const lines = [`${method} ${target} HTTP/1.1`, 'Host: 127.0.0.1', ...headers, '', ''];
  const { body } = await connection.send(lines.join('\r\n')).answer();
  connection.end();
  return JSON.parse(body) as Record<string, unknown>;
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
])('%s %s is %s', async (method, target, kind) => {
  expect(await ask(method, target)).toMatchObject({ kind, query: '' });
});

test.each([
  ['/v1/messages?beta=true', '/v1/messages', 'beta=true'],
  ['/v1/messages?', '/v1/messages', ''],
  ['/v1/messages?a=/v1/models?b', '/v1/messages', 'a=/v1/models?b'],
])('the query of %s decides nothing', async (target, path, query) => {
  expect(await ask('POST', target)).toEqual({ kind: 'exchange', path, query });
});

// biome-ignore format: they are alike
test.each([
  '/v1/messages/', '//v1/messages', '/v1//messages', '/v1/./messages', '/v1/../v1/messages', '/v1/x/%2e%2e/messages',
  '/v1/%6dessages', '/v1%2fmessages', '/v1/messages%20', '/v1/messages%00', '/v1/messages%3fbeta=true',
  '/v1/messages;a', '/v1/messages.json', '/V1/messages', '/v1/Messages', '/v1/message', '/v1', '/v2/messages',
  '/messages', '/v1/models/', '/v1/completions', '/healthz/', '/constructor', '/__proto__', '/v1\\messages',
  'http://127.0.0.1/v1/messages', 'https://api.anthropic.com/v1/messages', '//127.0.0.1/v1/messages',
])('%s is unknown', async (target) => {
  expect(await ask('POST', target)).toMatchObject({ code: 'endpoint.unknown' });
});

test('* is unknown', async () => {
  expect(await ask('OPTIONS', '*')).toMatchObject({ code: 'endpoint.unknown' });
});

test('a doubled prefix is recognized', async () => {
  expect(await ask('POST', '/v1/v1/messages')).toMatchObject({
    code: 'endpoint.unknown',
    message: expect.stringContaining('take /v1 off the base URL'),
  });
});

test.each([
  ['GET', '/v1/messages', 'POST'],
  ['OPTIONS', '/v1/messages', 'POST'],
  ['POST', '/v1/models', 'GET'],
  ['DELETE', '/v1/models/x', 'GET'],
  ['POST', '/', 'GET, HEAD'],
  ['PUT', '/healthz', 'GET'],
])('%s %s is not allowed, %s is', async (method, target, allow) => {
  expect(await ask(method, target)).toMatchObject({ code: 'method.not_allowed', headers: { allow } });
});

test.each(['/v1/responses', '/v1/chat/completions'])(
  'a WebSocket on %s is refused in favour of HTTP',
  async (path) => {
    expect(await ask('GET', path, 'Connection: Upgrade', 'Upgrade: websocket')).toMatchObject({
      code: 'request.upgrade',
      headers: { upgrade: 'HTTP/1.1' },
    });
  },
);

test('Host and Origin are looked at before the path', async () => {
  expect(await ask('POST', '/nowhere', 'Origin: http://evil.example')).toMatchObject({
    code: 'origin.not_allowed',
  });
  const connection = new RawConnection(listener.port);
  const { body } = await connection.send('POST /nowhere HTTP/1.1\r\nHost: evil.example\r\n\r\n').answer();
  connection.end();

  expect(JSON.parse(body)).toMatchObject({ code: 'host.not_allowed' });
});
