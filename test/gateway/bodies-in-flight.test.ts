import { createHash } from 'node:crypto';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { chatAnswer, json } from '../kit/answers.ts';
import { twoHosts } from '../kit/config.ts';
import { post as postTo, secrets } from '../kit/gateway.ts';
import { startHosts } from '../kit/lifecycle.ts';
import { RawConnection } from '../kit/raw.ts';

const server = `  port: 0
  limits: { body_size: 64KiB, bodies_in_flight: 128KiB, body_idle_timeout: 10s }`;
const { gateway } = await startHosts(json(chatAnswer), (urls) => twoHosts({ ...urls, server }));

const path = '/v1/chat/completions';

/** Begins a request, of whose body only `sent` bytes come. */
function begin(
  framing: string,
  sent: string | Buffer = '{',
  key: string = secrets.PROJECT_KEY,
): RawConnection {
  const connection = new RawConnection(gateway.port);
  connection.socket.write(
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-gateway-key: ${key}\r\ncontent-type: application/json\r\n${framing}\r\n\r\n`,
  );
  connection.socket.write(sent);
  return connection;
}

/** A whole request whose body has so many bytes. */
function post(key: string, bytes: number): Promise<Response> {
  const content = 'x'.repeat(bytes);
  return postTo({ url: gateway.url, key }, path, {
    model: 'gpt-test',
    messages: [{ role: 'user', content }],
  });
}

test('unfinished bodies of one key are refused beyond its share, another key is served, and what ends gives room', async () => {
  const open = Array.from({ length: 6 }, () => begin('content-length: 60000'));
  const refused = await Promise.race(open.map((connection) => connection.closed.then(() => connection)));

  expect(refused.received).toContain('HTTP/1.1 503');
  expect(refused.received.toLowerCase()).toContain('retry-after: 1');
  expect(refused.received).toContain('gateway.overloaded');
  expect((await post(secrets.PROJECT_KEY, 50_000)).status).toBe(503);
  expect((await post(secrets.OTHER_KEY, 50_000)).status).toBe(200);
  expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);

  for (const { socket } of open) socket.destroy();
  await expect.poll(async () => (await post(secrets.PROJECT_KEY, 50_000)).status).toBe(200);
});

test('chunks and what compressed bodies unpack to count as they come', async () => {
  const chunk = `${(60_000).toString(16)}\r\n${'x'.repeat(60_000)}\r\n`;
  const chunked = Array.from({ length: 4 }, () => begin('transfer-encoding: chunked', chunk));
  const refused = await Promise.race(chunked.map((connection) => connection.closed.then(() => connection)));
  expect(refused.received).toContain('HTTP/1.1 503');

  for (const compress of [gzipSync, brotliCompressSync]) {
    const noise = createHash('sha256').update(compress.name).digest('hex');
    const body = compress(JSON.stringify({ model: 'gpt-test', messages: [], noise: noise.repeat(900) }));
    const encoding = compress === gzipSync ? 'gzip' : 'br';
    const whole = begin(`content-encoding: ${encoding}\r\ncontent-length: ${body.length}`, body);
    await expect.poll(() => whole.received).toContain('HTTP/1.1 503');
    whole.socket.destroy();
  }
  for (const { socket } of chunked) socket.destroy();
});

test('a compressed body as large as a body may be is read', async () => {
  const noise = createHash('sha512').update('noise').digest('hex');
  const content = Array.from({ length: 400 }, (_, i) =>
    createHash('sha512').update(`${noise}${i}`).digest('hex'),
  );
  const text = JSON.stringify({ model: 'gpt-test', messages: [{ role: 'user', content: content.join('') }] });
  const body = gzipSync(text.padEnd(64 * 1024 - 10));
  expect(body.length).toBeGreaterThan(25_000);

  const ask = () => postTo(gateway, path, '', { headers: { 'content-encoding': 'gzip' }, body });

  // The bodies before may not be gone yet.
  await expect.poll(async () => (await ask()).status).toBe(200);
});
