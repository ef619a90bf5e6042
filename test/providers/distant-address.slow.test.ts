import { spawn } from 'node:child_process';
import dns from 'node:dns';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { connectPostgres } from '../../src/database/postgres.ts';
import { connectRedis } from '../../src/limits/redis/redis-connection.ts';
import { Pool, type PoolOptions } from '../../src/providers/transport/pool.ts';
import { listening } from '../kit/listening.ts';
import { hasRedis, startRedis, type TestRedis } from '../kit/redis.ts';
import { type Postgres, postgresPrograms, startPostgres } from '../plants/postgres.ts';
import { Reader } from './wire.ts';

/**
 * In front of another server: accepts once it may. Until then its full queue drops what begins a connection, as a slow
 * network would.
 */
const slowFront = `
  const { connect, createServer } = require('node:net');
  const to = /^\\d+$/.test(process.argv[1]) ? { port: Number(process.argv[1]), host: '127.0.0.1' } : { path: process.argv[1] };
  const server = createServer((socket) => {
    const behind = connect(to);
    for (const each of [socket, behind]) each.on('error', () => {});
    socket.pipe(behind).pipe(socket);
  });
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    require('node:fs').writeSync(1, String(server.address().port));
    require('node:fs').readSync(0, Buffer.alloc(1));
  });`;

/** A port that is slow to connect to, and what ends that. */
async function slowly(target: number | string) {
  const child = spawn(process.execPath, ['-e', slowFront, String(target)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [text] = (await once(child.stdout, 'data')) as [Buffer];
  const port = Number(String(text));
  for (let i = 0; i < 4; i += 1) {
    const filler = connect(port, '127.0.0.1').on('error', () => undefined);
    onTestFinished(() => void filler.destroy());
  }
  await pause(200); // the queue is full
  return {
    port,
    /** After longer than Node's own patience with an address. */
    accept: () => pause(500).then(() => void child.stdin.end('\n')),
  };
}

/** `distant.test` has the slow address, and a second one at which nobody is. */
function resolveDistant(): void {
  const both = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }));
  const lookup = vi.spyOn(dns, 'lookup') as unknown as ReturnType<typeof vi.fn>; // it has many forms
  lookup.mockImplementation((_name: string, _options: object, found: (...found: unknown[]) => void) =>
    found(null, both),
  );
  onTestFinished(() => lookup.mockRestore());
}

const serverPort = async (server: Server) => (await listening(server)).port;
const hello = () => createServer((_request, response) => response.end('hello'));

/** A proxy that leads everywhere. */
function tunnels(): Server {
  const server = createServer();
  server.on('connect', (request, socket: Socket) => {
    const there = connect(Number(request.url?.split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      there.pipe(socket).pipe(there);
    });
    for (const each of [socket, there]) each.on('error', () => undefined);
  });
  return server;
}

function get(origin: string, options: Partial<PoolOptions> = {}): Reader {
  const timeouts = { connectMs: 5_000, headersMs: 5_000, idleMs: 5_000 };
  const pool = new Pool(origin, { timeouts, ...options });
  onTestFinished(() => pool.close());
  const reader = new Reader();
  pool.send({ method: 'GET', path: '/', headers: [] }, reader.upstream);
  return reader;
}

describe('far away, and with a second address that is not there, is reached:', () => {
  let redis: TestRedis | undefined;
  let postgres: Postgres | undefined;
  beforeAll(async () => {
    if (hasRedis) redis = await startRedis();
    if (postgresPrograms !== undefined) postgres = await startPostgres();
  }, 60_000);
  afterAll(() => Promise.all([redis?.stop(), postgres?.stop()]));

  test('a host', async () => {
    const { port, accept } = await slowly(await serverPort(hello()));
    resolveDistant();

    const { outcome } = get(`http://distant.test:${port}`);
    await accept();

    expect(await outcome).toMatchObject({ status: 200, body: 'hello' });
  });

  test('a proxy', async () => {
    const target = await serverPort(hello());
    const { port, accept } = await slowly(await serverPort(tunnels()));
    resolveDistant();

    const { outcome } = get(`http://host.test:${target}`, { proxy: `http://distant.test:${port}` });
    await accept();

    expect(await outcome).toMatchObject({ status: 200, body: 'hello' });
  });

  test.skipIf(!hasRedis)('a Redis', async () => {
    const { port, accept } = await slowly(new URL(redis?.url ?? '').port);
    resolveDistant();

    const client = await connectRedis(`redis://distant.test:${port}/0`, { silentMs: 10_000 });
    onTestFinished(() => client.disconnect());
    const connected = client.connect();
    await accept();
    await connected;

    expect(await client.ping()).toBe('PONG');
  });

  test.skipIf(postgresPrograms === undefined)('a PostgreSQL', async () => {
    const { pathname } = new URL((await postgres?.createDatabase()) ?? '');
    const { port, accept } = await slowly(postgres?.socket ?? '');
    resolveDistant();

    const connecting = connectPostgres(`postgres://plants@distant.test:${port}${pathname}`, 'test');
    await accept();
    const client = await connecting;
    onTestFinished(() => client.close());

    expect(await client.query('select 1 as one')).toEqual([{ one: 1 }]);
  });
});
