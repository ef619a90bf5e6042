import { randomBytes } from 'node:crypto';
import { createServer, type TLSSocket, type TlsOptions } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { Pool } from '../../src/providers/transport/pool.ts';
import { type Identity, makeAuthority } from '../kit/certificate.ts';
import { listening } from '../kit/listening.ts';
import { Reader } from './wire.ts';

const trusted = makeAuthority('trusted');
const timeouts = { connectMs: 5_000, headersMs: 5_000, idleMs: 5_000 };

interface Seen {
  readonly bytes: string;
  readonly name: string | false | null;
  readonly protocol: string | false | null;
  readonly isResumed: boolean;
}

/** A host that ends each connection with its answer, and tells what it saw of each. */
async function start(identity: Identity, options: TlsOptions = {}) {
  const seen: Seen[] = [];
  const server = createServer(
    { ...identity, ALPNProtocols: ['http/1.1'], ...options },
    (socket: TLSSocket) => {
      socket.on('error', () => undefined);
      socket.once('data', (bytes) => {
        const { alpnProtocol } = socket;
        const name = (socket as TLSSocket & { servername: Seen['name'] }).servername;
        seen.push({
          bytes: String(bytes),
          name,
          protocol: alpnProtocol,
          isResumed: socket.isSessionReused(),
        });
        socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 5\r\n\r\nhello');
      });
    },
  );
  server.on('tlsClientError', () => undefined);
  return { port: (await listening(server)).port, seen };
}

/** What somebody gets who trusts an authority, or Node's own alone, and asks the origins in turn. */
async function askTrusting(ca: string | undefined, origins: readonly string[]) {
  const pools = new Map(origins.map((origin) => [origin, new Pool(origin, { timeouts, ca })]));
  onTestFinished(() => {
    for (const pool of pools.values()) pool.close();
  });
  const outcomes: unknown[] = [];
  for (const origin of origins) {
    const reader = new Reader();
    const request = { method: 'POST', path: '/', headers: [], body: Buffer.from('{}') } as const;
    pools.get(origin)?.send(request, reader.upstream);
    const { body, failure, wasSent, cause } = await reader.outcome;
    outcomes.push({ body, failure, wasSent, code: cause?.code });
  }
  return outcomes;
}

const ask = (...origins: readonly string[]) => askTrusting(trusted.cert, origins);
const hello = { body: 'hello' };
const refused = (code: string) => ({ body: '', failure: 'provider.unreachable', wasSent: false, code });

test('a host is reached by its name, which is sent as SNI', async () => {
  const { port, seen } = await start(trusted.issue(['localhost']));

  expect(await ask(`https://localhost:${port}`)).toEqual([hello]);
  expect(seen).toMatchObject([{ name: 'localhost', protocol: 'http/1.1', isResumed: false }]);
  expect(seen[0]?.bytes).toContain(`\r\nhost: localhost:${port}\r\n`);
});

test('a host is reached by its address, without SNI', async () => {
  const { port, seen } = await start(trusted.issue(['127.0.0.1']));

  expect(await ask(`https://127.0.0.1:${port}`)).toEqual([hello]);
  expect(seen[0]?.name).toBe(false);
});

test.each([
  ['another name', 'localhost', ['other.test']],
  ['an address in place of the name', 'localhost', ['127.0.0.1']],
  ['a name in place of the address', '127.0.0.1', ['localhost']],
])('a host whose certificate is for %s gets nothing', async (_what, host, names) => {
  const { port, seen } = await start(trusted.issue(names));

  expect(await ask(`https://${host}:${port}`)).toEqual([refused('ERR_TLS_CERT_ALTNAME_INVALID')]);
  expect(seen).toEqual([]);
});

test.each([
  ['has expired', { from: -2, until: -1 }, 'CERT_HAS_EXPIRED'],
  ['is not valid yet', { from: 1, until: 2 }, 'CERT_NOT_YET_VALID'],
])('a host whose certificate %s gets nothing', async (_what, days, code) => {
  const { port, seen } = await start(trusted.issue(['localhost'], days));

  expect(await ask(`https://localhost:${port}`)).toEqual([refused(code)]);
  expect(seen).toEqual([]);
});

test.each([
  ['is unknown', trusted.cert, makeAuthority('somebody')],
  ['nobody here has been told to trust', undefined, trusted],
])('a host whose issuer %s gets nothing', async (_what, ca, issuer) => {
  const { port, seen } = await start(issuer.issue(['localhost']));

  const outcome = await askTrusting(ca, [`https://localhost:${port}`]);

  expect(outcome).toEqual([refused('UNABLE_TO_VERIFY_LEAF_SIGNATURE')]);
  expect(seen).toEqual([]);
});

test('a host that only supports another protocol gets nothing', async () => {
  const { port, seen } = await start(trusted.issue(['localhost']), { ALPNProtocols: ['h2'] });

  expect(await ask(`https://localhost:${port}`)).toMatchObject([{ failure: 'provider.unreachable' }]);
  expect(seen).toEqual([]);
});

test.each(['TLSv1.2', 'TLSv1.3'] as const)('the second connection resumes the first: %s', async (version) => {
  const { port, seen } = await start(trusted.issue(['localhost']), { maxVersion: version });
  const origin = `https://localhost:${port}`;

  expect(await ask(origin, origin, origin)).toEqual([hello, hello, hello]);
  expect(seen.map(({ isResumed }) => isResumed)).toEqual([false, true, true]);
});

test('no session goes to another origin, even where the host would take it', async () => {
  const identity = trusted.issue(['localhost', '127.0.0.1']);
  const ticketKeys = randomBytes(48);
  const [one, other] = [await start(identity, { ticketKeys }), await start(identity, { ticketKeys })];
  const origins = [one, other].map(({ port }) => `https://localhost:${port}`);

  expect(await ask(...origins, ...origins, `https://127.0.0.1:${one.port}`)).toEqual(Array(5).fill(hello));
  expect(one.seen.map(({ isResumed }) => isResumed)).toEqual([false, true, false]);
  expect(other.seen.map(({ isResumed }) => isResumed)).toEqual([false, true]);
});
