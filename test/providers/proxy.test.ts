import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { connect, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Pool, type PoolOptions } from '../../src/providers/transport/pool.ts';
import { type Identity, makeAuthority } from '../kit/certificate.ts';
import { listening } from '../kit/listening.ts';
import { Reader, until } from './wire.ts';

const company = makeAuthority('company');
const timeouts = { connectMs: 5_000, headersMs: 5_000, idleMs: 5_000 };
const ok = { status: 200, failure: undefined };
const nothingSent = { status: 0, failure: 'provider.unreachable', wasSent: false };

/** A host behind TLS of a private authority, or without. */
async function host(isTls: boolean, seen: string[] = [], name = 'localhost'): Promise<number> {
  const answer = (request: IncomingMessage, response: { end(text: string): void }) => {
    seen.push(`${request.headers.host} ${request.headers['proxy-authorization'] ?? ''}`);
    response.end('hello');
  };
  const server = isTls
    ? createSecureServer(company.issue([name, '127.0.0.1']), answer)
    : createServer(answer);
  server.on('connection', (socket: Socket) => socket.on('error', () => undefined));
  return (await listening(server)).port;
}

interface ProxyOptions {
  readonly answer?: string | undefined;
  readonly login?: string;
  /** For one that is reached by TLS. */
  readonly identity?: Identity;
}

/** An HTTP proxy that tunnels for those who know the password, and notes what it is asked. */
async function proxy({ answer, login = 'us:er:p@ss', identity }: ProxyOptions = {}) {
  const asked: string[] = [];
  const credentials = `Basic ${Buffer.from(login).toString('base64')}`;
  const server = identity === undefined ? createServer() : createSecureServer(identity);
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    asked.push(`${request.method} ${request.url} HTTP/${request.httpVersion} ${request.headers.host}`);
    socket.on('error', () => undefined);
    if (request.headers['proxy-authorization'] !== credentials) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic\r\n\r\n');
      return;
    }
    if (answer !== undefined) {
      socket.on('end', () => socket.end()); // Node leaves the other half open
      socket.resume().write(answer);
      return;
    }
    const [, port] = /:(\d+)$/.exec(request.url ?? '') ?? [];
    const there = connect(Number(port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      there.pipe(socket).pipe(there);
    });
    there.on('error', () => socket.destroy());
    socket.on('close', () => there.destroy());
  });
  const { url, sockets } = await listening(server);
  return { url: url.replace('//', '//us%3Aer:p%40ss@'), plainUrl: url, asked, sockets };
}

function poolAt(origin: string, options: Partial<PoolOptions>): Pool {
  const pool = new Pool(origin, { timeouts, ...options });
  onTestFinished(() => pool.close());
  return pool;
}

function ask(origin: string, options: Partial<PoolOptions>, pool = poolAt(origin, options)): Reader {
  const reader = new Reader();
  pool.send({ method: 'POST', path: '/', headers: [], body: Buffer.from('{}') }, reader.upstream);
  return reader;
}

describe('through a proxy with a password', () => {
  test.each([
    [true, 'https'],
    [false, 'http'],
  ])('a host is reached, which never sees the password (TLS: %s)', async (isTls, scheme) => {
    const seen: string[] = [];
    const port = await host(isTls, seen);
    const { url, asked } = await proxy();

    const outcome = await ask(`${scheme}://localhost:${port}`, { proxy: url, ca: company.cert }).outcome;

    expect(outcome).toMatchObject({ ...ok, body: 'hello' });
    expect(asked).toEqual([`CONNECT localhost:${port} HTTP/1.1 localhost:${port}`]);
    expect(seen).toEqual([`localhost:${port} `]);
  });

  test.each(['localhost', 'target.test'])(
    'by TLS: its certificate is for the proxy, and that of %s for the host',
    async (name) => {
      const port = await host(true, [], name);
      const { url, asked } = await proxy({ identity: company.issue(['localhost']) });
      const own = url.replace('http:', 'https:').replace('127.0.0.1', 'localhost');

      const outcome = await ask(`https://${name}:${port}`, { proxy: own, ca: company.cert }).outcome;

      expect(outcome).toMatchObject({ ...ok, body: 'hello' });
      expect(asked).toEqual([`CONNECT ${name}:${port} HTTP/1.1 ${name}:${port}`]);
    },
  );

  test('by TLS with a certificate for the host alone: the proxy learns nothing', async () => {
    const port = await host(true, [], 'target.test');
    const { url, asked } = await proxy({ identity: company.issue(['target.test']) });
    const own = url.replace('http:', 'https:').replace('127.0.0.1', 'localhost');

    const outcome = await ask(`https://target.test:${port}`, { proxy: own, ca: company.cert }).outcome;

    expect(outcome).toMatchObject(nothingSent);
    expect(outcome.cause?.message).toMatch(/the proxy can't be reached: .*altnames/);
    expect(asked).toEqual([]);
  });

  test.each(['100%', 'p%ss', '%ff'])('whose percent sign encodes nothing: %s', async (password) => {
    const port = await host(true);
    const { plainUrl } = await proxy({ login: `user:${password}` });
    const url = plainUrl.replace('//', `//user:${password}@`);

    const outcome = await ask(`https://localhost:${port}`, { proxy: url, ca: company.cert }).outcome;

    expect(outcome).toMatchObject({ ...ok, body: 'hello' });
  });

  test('a tunnel is used again', async () => {
    const port = await host(true);
    const { url, asked } = await proxy();
    const pool = poolAt(`https://localhost:${port}`, { proxy: url, ca: company.cert });

    for (let i = 0; i < 3; i += 1) {
      expect(await ask('', {}, pool).outcome).toMatchObject(ok);
      await until(() => true);
    }

    expect(asked).toHaveLength(1);
  });

  test('nothing is sent where the certificate is not the host’s', async () => {
    const seen: string[] = [];
    const port = await host(true, seen);
    const { url } = await proxy();

    const outcome = await ask(`https://other.test:${port}`, { proxy: url, ca: company.cert }).outcome;

    expect(outcome).toMatchObject(nothingSent);
    expect(outcome.cause?.code).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
    expect(seen).toEqual([]);
  });

  test.each([
    ['wants another password', undefined, /asks for other credentials \(407\)/],
    ['refuses the tunnel', 'HTTP/1.1 403 Forbidden\r\n\r\n', /refused the tunnel \(403\)/],
    ['answers nonsense', 'SSH-2.0-OpenSSH_9.6\r\n\r\n', /the proxy can't be reached/],
  ])('that %s: nothing was sent, and the cause says so', async (_what, answer, message) => {
    const port = await host(true);
    const { url, plainUrl } = await proxy({ answer });

    const used = answer === undefined ? plainUrl : url;
    const outcome = await ask(`https://localhost:${port}`, { proxy: used, ca: company.cert }).outcome;

    expect(outcome).toMatchObject(nothingSent);
    expect(outcome.cause?.message).toMatch(message);
    expect(outcome.cause?.message).not.toContain('p@ss');
  });

  test('that sends more right behind its answer is not asked again and again', async () => {
    const port = await host(false);
    const { url, asked } = await proxy({
      answer: 'HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}',
    });

    const outcome = await ask(`http://localhost:${port}`, { proxy: url }).outcome;

    expect(outcome).toMatchObject(nothingSent);
    expect(asked.length).toBeLessThan(5);
  });

  test('that never answers: the connection times out and is aborted', async () => {
    const { url, asked, sockets } = await proxy({ answer: '' });
    const begun = performance.now();

    const outcome = await ask('https://localhost:1', {
      proxy: url,
      timeouts: { ...timeouts, connectMs: 200 },
    }).outcome;

    expect(outcome).toMatchObject(nothingSent);
    expect(performance.now() - begun).toBeLessThan(3_000);
    expect(asked).toHaveLength(1);
    await until(() => sockets.size === 0);
  });

  test('that never answers, and the client leaves', async () => {
    const { url, asked, sockets } = await proxy({ answer: '' });
    const reader = ask('https://localhost:1', { proxy: url });
    await until(() => asked.length === 1);

    reader.upstream.abort();

    await until(() => sockets.size === 0);
    expect(reader.isOver).toBe(false);
  });
});
