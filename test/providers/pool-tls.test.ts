import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type TLSSocket, type TlsOptions } from 'node:tls';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Identity, makeAuthority } from '../kit/certificate.ts';
import { listening } from '../kit/listening.ts';

const trusted = makeAuthority('trusted');
const folder = mkdtempSync(join(tmpdir(), 'gateway-tls-'));
const authorityFile = join(folder, 'authority.pem');
const program = join(folder, 'ask.mjs');
let child: ChildProcessWithoutNullStreams;

beforeAll(async () => {
  writeFileSync(authorityFile, trusted.cert);
  const input = join(import.meta.dirname, 'pool-tls-child.ts');
  const bundle = await rolldown({ input, platform: 'node', logLevel: 'silent' });
  await bundle.write({ file: program, format: 'esm' });
  await bundle.close();
  const env = { PATH: process.env.PATH, NODE_EXTRA_CA_CERTS: authorityFile };
  child = spawn(process.execPath, [program], { env });
});

afterAll(async () => {
  const errors = child.stderr.toArray();
  child.stdin.end();
  expect(await errors).toEqual([]);
  rmSync(folder, { recursive: true });
});

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

/** What somebody gets who trusts the authority and asks the origins in turn. */
async function ask(...origins: readonly string[]) {
  child.stdin.write(`${JSON.stringify(origins)}\n`);
  let line = '';
  while (!line.endsWith('\n')) line += String((await once(child.stdout, 'data'))[0]);
  return JSON.parse(line) as unknown;
}

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

test('a host whose issuer is unknown gets nothing', async () => {
  const { port, seen } = await start(makeAuthority('somebody').issue(['localhost']));

  expect(await ask(`https://localhost:${port}`)).toEqual([refused('UNABLE_TO_VERIFY_LEAF_SIGNATURE')]);
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
