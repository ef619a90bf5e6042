import type { ServerResponse } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { defaultListenLimits, type Listener, listen } from '../../src/http/listen.ts';
import { RawConnection } from './raw-connection.ts';

const listeners: Listener[] = [];

afterEach(async () => {
  await Promise.all(listeners.splice(0).map((listener) => listener.drain()));
});

const closed = (response: ServerResponse) => new Promise((resolve) => response.once('close', resolve));

test('every answer of a connection hears that the client has left, also one behind another', async () => {
  let noteBegun: (responses: readonly ServerResponse[]) => void = () => undefined;
  const bothBegun = new Promise<readonly ServerResponse[]>((resolve) => {
    noteBegun = resolve;
  });
  const begun: ServerResponse[] = [];
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    limits: { ...defaultListenLimits, drainMs: 1_000 },
    onRequest: (_request, response) => {
      begun.push(response);
      if (begun.length === 2) noteBegun(begun);
    },
  });
  listeners.push(listener);
  const client = new RawConnection(listener.port);
  const request = 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';
  client.send(request + request);
  const responses = await bothBegun;

  client.reset();
  await Promise.all(responses.map(closed));

  expect(responses.map(({ destroyed }) => destroyed)).toEqual([true, true]);
});
