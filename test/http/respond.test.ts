import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { type FailureCode, failures, GatewayError } from '../../src/errors.ts';
import { newRequestId } from '../../src/http/request.ts';
import { errorBody, rawErrorAnswer, refuseUpgrade, sendError, sendJson } from '../../src/http/respond.ts';
import { parseAnswers } from '../kit/raw.ts';
import { serve } from './serving.ts';

/** The answer as a client reads it from the wire. */
function answered(error: GatewayError) {
  return parseAnswers(Buffer.from(rawErrorAnswer(error, 'req_1')))[0];
}

test.each(Object.keys(failures) as FailureCode[])('%s is answered with its row of the table', (code) => {
  const { status, type, retry } = failures[code];

  const answer = answered(new GatewayError(code, 'what was wrong: é'));

  expect(answer?.status).toBe(status);
  expect(JSON.parse(String(answer?.body))).toMatchObject({ error: { type } });
  expect(answer?.headers.get('x-should-retry')?.[0]).toBe(retry ? undefined : 'false');
  expect(answer?.headers.get('www-authenticate')?.[0]).toBe(status === 401 ? 'Bearer' : undefined);
  expect(answer?.headers.get('connection')?.[0]).toBe('close');
});

test('details go where clients look for them', () => {
  const error = new GatewayError('policy.blocked', 'not here', {
    reason: 'content.codename',
    param: '/messages/0',
    retryAfterS: 1.2,
    headers: { allow: 'POST' },
    cause: new Error('secret'),
  });

  const answer = answered(error);

  expect(JSON.parse(String(answer?.body))).toEqual({
    type: 'error',
    error: {
      type: 'permission_error',
      reason: 'content.codename',
      message: 'not here',
      code: 'content.codename',
      param: '/messages/0',
    },
    request_id: 'req_1',
  });
  expect(answer?.headers.get('retry-after')?.[0]).toBe('2');
  expect(answer?.headers.get('allow')?.[0]).toBe('POST');
  expect(answer?.headers.get('request-id')?.[0]).toBe('req_1');
  expect(errorBody(error, 'req_1')).not.toContain('secret');
});

test.each(['gateway.overloaded', 'gateway.draining', 'provider.unavailable', 'limit.requests'] as const)(
  '%s tells when to come back, also where nobody said',
  (code) => {
    const answer = answered(new GatewayError(code, 'later'));

    expect(Number(answer?.headers.get('retry-after')?.[0])).toBeGreaterThan(0);
  },
);

test('request ids are long, different and fit into a header', () => {
  const ids = Array.from({ length: 1_000 }, newRequestId);

  expect(new Set(ids).size).toBe(1_000);
  for (const id of ids) expect(id).toMatch(/^req_[0-9a-f]{30}$/);
});

test('what is sent is counted: no body where only the head is asked for', async () => {
  const counts: number[] = [];
  const { listener } = await serve({
    onRequest: (request, response) => {
      const missing = new GatewayError('endpoint.unknown', 'not here');
      const isMissing = request.target === '/missing';
      counts.push(isMissing ? sendError(response, missing, 'req_1') : sendJson(response, { a: 1 }, 'req_1'));
    },
  });
  const lengthOf = async (method: string, path: string) => {
    const answer = await fetch(listener.url + path, { method, headers: { connection: 'close' } });
    return [answer.headers.get('content-length'), (await answer.arrayBuffer()).byteLength];
  };

  const lengths = [
    await lengthOf('GET', '/'),
    await lengthOf('HEAD', '/'),
    await lengthOf('HEAD', '/missing'),
  ];

  expect(lengths).toEqual([
    ['7', 7],
    ['7', 0],
    [String(errorBody(new GatewayError('endpoint.unknown', 'not here'), 'req_1').length), 0],
  ]);
  expect(counts).toEqual([7, 0, 0]);
});

test('the socket of a refused upgrade is closed even if the client keeps its half open', async () => {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection');
  const client = connect({ port: (server.address() as AddressInfo).port, allowHalfOpen: true });
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  const [socket] = (await accepted) as [Socket];
  const closed = once(socket, 'close');
  const ended = once(client.resume(), 'end');

  refuseUpgrade(socket, new GatewayError('login.required', 'log in first'));
  await ended;
  await closed;

  expect([socket.destroyed, client.writable]).toEqual([true, true]);
});
