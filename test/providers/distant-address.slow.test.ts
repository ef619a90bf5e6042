import { spawn } from 'node:child_process';
import dns from 'node:dns';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Pool } from '../../src/providers/transport/pool.ts';
import { Reader } from './wire.ts';

/** Answers once it may accept: until then its full queue drops what begins a connection, as a slow network would. */
const busyHost = `
  const server = require('node:net').createServer((socket) =>
    socket.on('error', () => {}).once('data', () => socket.end('HTTP/1.1 200 OK\\r\\ncontent-length: 5\\r\\n\\r\\nhello')));
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    require('node:fs').writeSync(1, String(server.address().port));
    require('node:fs').readSync(0, Buffer.alloc(1));
  });
  process.on('disconnect', () => process.exit());`;

test('a host that is far away is reached, though its second address is not', async () => {
  const child = spawn(process.execPath, ['-e', busyHost], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [text] = (await once(child.stdout, 'data')) as [Buffer];
  const port = Number(String(text));
  for (let i = 0; i < 4; i += 1) {
    const filler = connect(port, '127.0.0.1').on('error', () => undefined);
    onTestFinished(() => void filler.destroy());
  }
  const both = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }));
  const lookup = vi.spyOn(dns, 'lookup') as unknown as ReturnType<typeof vi.fn>; // it has many forms
  lookup.mockImplementation((_name: string, _options: object, found: (...found: unknown[]) => void) =>
    found(null, both),
  );
  onTestFinished(() => lookup.mockRestore());
  const timeouts = { connectMs: 5_000, headersMs: 5_000, idleMs: 5_000 };
  const pool = new Pool(`http://distant.test:${port}`, { timeouts });
  onTestFinished(() => pool.close());
  await pause(200); // the queue is full

  const reader = new Reader();
  pool.send({ method: 'GET', path: '/', headers: [] }, reader.upstream);
  await pause(500); // longer than Node's own patience with an address
  child.stdin.end('\n');

  expect(await reader.outcome).toMatchObject({ status: 200, body: 'hello' });
});
