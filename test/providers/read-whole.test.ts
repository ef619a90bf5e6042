import { expect, test } from 'vitest';
import { Lifetime } from '../../src/lib/lifetime.ts';
import { readWhole } from '../../src/providers/read-whole.ts';
import { Pool, Upstream } from '../../src/providers/transport/pool.ts';
import { startRawHost } from '../kit/raw-host.ts';
import { scale } from '../kit/scale.ts';

const pieces = scale(1, 2) * 1024 * 1024;

test('an answer in chunks of one byte costs its bytes, not a Buffer for each', async () => {
  const host = await startRawHost(async ({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
    const block = Buffer.from('1\r\nx\r\n'.repeat(65_536));
    for (let sent = 0; sent < pieces; sent += 65_536) {
      if (!socket.write(block)) await new Promise((resolve) => socket.once('drain', resolve));
    }
    socket.write('0\r\n\r\n');
  });
  const pool = new Pool(host.url, { timeouts: { connectMs: 5_000, headersMs: 60_000, idleMs: 60_000 } });
  const before = process.memoryUsage.rss();
  let peak = before;
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 5);
  const answer = await new Promise<Upstream>((resolve) => {
    const upstream = new Upstream(() => resolve(upstream));
    pool.send({ method: 'POST', path: '/', headers: [] }, upstream);
  });

  const body = await readWhole(answer, 64 * 1024 * 1024, new Lifetime());
  clearInterval(watch);
  pool.close();

  expect(body.length).toBe(pieces);
  expect(peak - before).toBeLessThan(150 * 1024 * 1024);
}, 120_000);
