import type { ServerResponse } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { defaultListenLimits, type Listener, listen } from '../../src/http/listen.ts';
import { OpenBody } from '../../src/http/open-body.ts';
import { RawConnection } from './raw-connection.ts';

const listeners: Listener[] = [];
const connections: RawConnection[] = [];

afterEach(async () => {
  for (const connection of connections.splice(0)) connection.end();
  await Promise.all(listeners.splice(0).map((listener) => listener.drain()));
});

/** A client whose request is answered with a body that the test writes. */
async function open(
  version = '1.1',
): Promise<{ body: OpenBody; response: ServerResponse; client: RawConnection }> {
  let begun: (response: ServerResponse) => void = () => undefined;
  const beginning = new Promise<ServerResponse>((resolve) => {
    begun = resolve;
  });
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    limits: { ...defaultListenLimits, drainMs: 1_000 },
    onRequest: (_request, response) => begun(response),
  });
  listeners.push(listener);
  const client = new RawConnection(listener.port);
  connections.push(client);
  client.send(`GET / HTTP/${version}\r\nHost: 127.0.0.1\r\n\r\n`);
  const response = await beginning;
  return { body: new OpenBody(response, 200, ['content-type', 'text/plain']), response, client };
}

const bodyOf = ({ received }: RawConnection) => received.slice(received.indexOf('\r\n\r\n') + 4);

test('each piece is a chunk, short or long, and the end is one of no bytes', async () => {
  const { body, client } = await open();
  const long = 'ü'.repeat(10_000);

  body.write(Buffer.from('né'));
  body.write(Buffer.from(long));
  body.end();

  await client.until((received) => received.endsWith('0\r\n\r\n'));
  expect(bodyOf(client)).toBe(Buffer.from(`3\r\nné\r\n4e20\r\n${long}\r\n0\r\n\r\n`).toString('latin1'));
});

test('a piece of no bytes says nothing, and above all not that the body is whole', async () => {
  const { body, response, client } = await open();
  body.write(Buffer.from('half'));

  await new Promise<void>((resolve) => void body.write(Buffer.alloc(0), () => resolve()));
  response.socket?.destroy();

  await client.closed;
  expect(bodyOf(client)).toBe('4\r\nhalf\r\n');
});

test('a client of HTTP/1.0 gets the bare bytes until the connection ends', async () => {
  const { body, client } = await open('1.0');

  body.write(Buffer.from('one '));
  body.write(Buffer.from('two'));
  body.end();

  await client.closed;
  expect(client.received).not.toMatch(/transfer-encoding/i);
  expect(bodyOf(client)).toBe('one two');
});
