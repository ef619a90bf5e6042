import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { challengeHeader } from '../../src/owner-proof.ts';
import { emptyDirectory } from '../kit/command.ts';
import { projects } from '../kit/gateway.ts';
import { type InspectedGateway, startInspected } from '../kit/inspector.ts';
import { openRaw, type RawAnswer } from '../kit/raw.ts';

let gateway: InspectedGateway;

beforeAll(async () => {
  gateway = await startInspected(projects);
});

afterAll(() => gateway.stop());

type Headers = Readonly<Record<string, string>>;

/** A request as its bytes say it, which no browser and no client of ours has mended. */
async function raw(line: string, headers: Headers, body = ''): Promise<RawAnswer> {
  const connection = openRaw(gateway.port);
  const all = { host: `127.0.0.1:${gateway.port}`, 'content-length': String(body.length), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  await connection.write(`${line} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
  const answer = await connection.answer();
  connection.socket.destroy();
  return answer;
}

function reasonOf({ status, body }: RawAnswer): readonly [number, string] {
  return [status, (JSON.parse(body.toString()) as { error: { reason: string } }).error.reason];
}

const calls: readonly (readonly [line: string, body: string])[] = [
  ['GET /_/api/exchanges', ''],
  ['GET /_/api/exchanges/req_1', ''],
  ['GET /_/api/exchanges/req_1/test', ''],
  ['GET /_/api/exchanges/req_1/curl', ''],
  ['GET /_/api/events', ''],
  ['GET /_/api/now', ''],
  ['GET /_/api/history', ''],
  ['GET /_/api/policies', ''],
  ['POST /_/api/keep-bodies', '{}'],
  ['POST /_/api/send-again', '{"id":"req_1"}'],
  ['POST /_/api/try-policy', '{"policies":"{}","body":"{}"}'],
  ['DELETE /_/api/session', ''],
  ['DELETE /_/api/sessions', ''],
];
const json = { 'content-type': 'application/json' };

describe('without a whole session', () => {
  test.each(calls)('%s is refused', async (line, body) => {
    const { cookie = '', 'x-inspector-key': key = '' } = await gateway.session();
    const attempts: Headers[] = [
      {},
      // What another user's server on another port is sent by the browser: the cookie alone.
      { cookie },
      { 'x-inspector-key': key },
      { cookie: cookie.replace(/\.[0-9a-f]{64}$/, `.${'0'.repeat(64)}`), 'x-inspector-key': key },
      { cookie, 'x-inspector-key': '0'.repeat(64) },
      { cookie: cookie.replace(/=\d+/, '=99999999999999'), 'x-inspector-key': key },
      // A project key opens nothing here.
      { authorization: `Bearer ${gateway.key}` },
    ];

    for (const headers of attempts) {
      expect(reasonOf(await raw(line, { ...json, ...headers }, body))).toEqual([401, 'session.required']);
    }
  });

  test('the page itself is served, and contains no data', async () => {
    const { status, headers } = await raw('GET /_/', {});

    // 404 where the page was not built; never anything else.
    expect([200, 404]).toContain(status);
    expect(headers.get('content-security-policy')?.[0]).toContain("default-src 'none'");
  });
});

/** The headers of a call as the page signs it. */
async function signed(line: string, nonce: string): Promise<Headers> {
  const { cookie = '', 'x-inspector-key': key = '' } = await gateway.session();
  return {
    cookie,
    'x-inspector-signature': createHmac('sha256', key).update(`${nonce} ${line}`).digest('hex'),
  };
}

async function nonceOf({ url }: InspectedGateway): Promise<string> {
  const access = await fetch(`${url}/_/api/access`);
  return ((await access.json()) as { nonce: string }).nonce;
}

describe('a signed call', () => {
  test('is answered without the key', async () => {
    const line = 'GET /_/api/exchanges?limit=1';

    expect((await raw(line, await signed(line, await nonceOf(gateway)))).status).toBe(200);
  });

  test.each(calls)('of another kind does not open %s', async (line, body) => {
    const nonce = await nonceOf(gateway);
    for (const other of [
      'GET /_/api/access',
      `${line}?`,
      line.replace(/^[A-Z]+/, 'PUT'),
      line.toLowerCase(),
    ]) {
      const headers = { ...json, ...(await signed(other, nonce)) };
      expect(reasonOf(await raw(line, headers, body)), other).toEqual([401, 'session.required']);
    }
    const unsigned = { ...json, ...(await signed(line, nonce)), 'x-inspector-signature': '' };
    expect(reasonOf(await raw(line, unsigned, body))).toEqual([401, 'session.required']);
  });

  test('that was caught while the gateway was away is worth nothing when it is back', async () => {
    // Who has the port of a gateway that has stopped is asked by open pages, with any nonce that he names.
    const line = 'GET /_/api/now';
    const caught = await signed(line, '0'.repeat(32));
    const other = await startInspected(projects);
    try {
      expect(await nonceOf(other)).not.toBe(await nonceOf(gateway));
    } finally {
      await other.stop();
    }

    expect(reasonOf(await raw(line, caught))).toEqual([401, 'session.required']);
  });
});

describe('with a stolen session', () => {
  test.each(calls)('%s from another origin or by another name is refused', async (line, body) => {
    const session = { ...json, ...(await gateway.session()) };
    const port = gateway.port;

    for (const origin of [
      `http://127.0.0.1:${port + 1}`,
      'https://evil.example',
      'null',
      `http://localhost:${port}`,
    ]) {
      expect(reasonOf(await raw(line, { ...session, origin }, body)), origin).toEqual([
        403,
        'origin.not_allowed',
      ]);
    }
    for (const site of ['cross-site', 'same-site', 'whatever']) {
      const answer = await raw(line, { ...session, 'sec-fetch-site': site }, body);
      expect(reasonOf(answer), site).toEqual([403, 'origin.not_allowed']);
    }
    // DNS rebinding: the browser names the attacker's host.
    for (const host of ['evil.example', `evil.example:${port}`, `127.0.0.1.evil.example:${port}`]) {
      expect(reasonOf(await raw(line, { ...session, host }, body)), host).toEqual([421, 'host.not_allowed']);
    }
  });
});

describe('getting in', () => {
  test('a token opens one session, and the cookie is out of reach', async () => {
    const body = JSON.stringify({ token: await gateway.token() });
    const first = await raw('POST /_/api/session', json, body);
    const second = await raw('POST /_/api/session', json, body);

    expect(first.status).toBe(200);
    const [cookie = ''] = first.headers.get('set-cookie') ?? [];
    expect(cookie).toMatch(/; Path=\/_\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/);
    expect(reasonOf(second)).toEqual([401, 'session.invalid']);
  });

  test('only the owner of the state file gets a token', async () => {
    for (const challenge of ['', 'a'.repeat(64), 'wrong']) {
      expect(reasonOf(await raw('POST /_/api/link', { [challengeHeader]: challenge }))).toEqual([
        401,
        'session.invalid',
      ]);
    }
    expect(reasonOf(await raw('POST /_/api/link', {}))).toEqual([401, 'session.invalid']);
  });

  test('made-up tokens, passwords where there are none, and forms are refused', async () => {
    const reasons = async (body: string, headers: Headers = json) =>
      reasonOf(await raw('POST /_/api/session', headers, body));

    expect(await reasons(`{"token":"${'0'.repeat(64)}"}`)).toEqual([401, 'session.invalid']);
    expect(await reasons('{"password":""}')).toEqual([401, 'session.invalid']);
    expect(await reasons('{"token":7}')).toEqual([400, 'request.field']);
    expect(await reasons('[]')).toEqual([400, 'request.field']);
    expect(await reasons('{')).toEqual([400, 'request.invalid_json']);
    expect(await reasons('token=1', { 'content-type': 'text/plain' })).toEqual([415, 'request.media_type']);
    expect(await reasons('token=1', { 'content-type': 'application/x-www-form-urlencoded' })).toEqual([
      415,
      'request.media_type',
    ]);
  });

  test('without a session next to nothing can be sent', async () => {
    const body = JSON.stringify({ token: 'a'.repeat(5_000) });
    const answer = await raw('POST /_/api/session', json, body);
    // A megabyte that is announced is refused before it is read.
    const announced = await raw('POST /_/api/session', { ...json, 'content-length': '1000000' });

    expect(reasonOf(answer)).toEqual([413, 'request.too_large']);
    expect(reasonOf(announced)).toEqual([413, 'request.too_large']);
  });

  describe('out again', () => {
    const end = (there: InspectedGateway, path: string, headers: Headers) =>
      fetch(`${there.url}/_/api/${path}`, { method: 'DELETE', headers });
    const status = async ({ url }: InspectedGateway, headers: Headers) =>
      (await fetch(`${url}/_/api/now`, { headers })).status;

    test('a session that was ended is refused, after a restart too; the others are not', async () => {
      const home = emptyDirectory();
      const before = await startInspected(projects, { home });
      const [ended, other] = [await before.newSession(), await before.newSession()];
      const answer = await end(before, 'session', ended);
      const statuses = [await status(before, ended), await status(before, other)];
      await before.stop();
      const after = await startInspected(projects, { home, port: before.port });
      statuses.push(await status(after, ended), await status(after, other));
      await after.stop();

      expect(answer.status).toBe(204);
      expect(answer.headers.get('set-cookie')).toContain('Max-Age=0');
      expect(statuses).toEqual([401, 200, 401, 200]);
    });

    test('all sessions end together, with unopened links and event streams', async () => {
      const there = await startInspected(projects);
      const [one, other] = [await there.newSession(), await there.newSession()];
      const token = await there.token();
      const stream = await fetch(`${there.url}/_/api/events`, { headers: other });
      await end(there, 'sessions', one);
      const rest = await stream.text(); // the stream ends
      const late = await fetch(`${there.url}/_/api/session`, {
        method: 'POST',
        headers: json,
        body: JSON.stringify({ token }),
      });
      const statuses = [await status(there, one), await status(there, other), late.status];
      const fresh = await status(there, await there.newSession());
      await there.stop();

      expect(rest).toContain('event: hello');
      expect(statuses).toEqual([401, 401, 401]);
      expect(fresh).toBe(200);
    });
  });
});

test('paths are exact, and files outside of the page are none of it', async () => {
  const spellings = [
    '/_/api',
    '/_/api/',
    '/_//api/now',
    '/_/api/now/',
    '/_/%61pi/now',
    '/_/assets/',
    '/_/assets/../index.html',
    '/_/assets/..%2findex.html',
    '/_/assets/%2e%2e/secrets.js',
    '/_/assets/....js',
    '/_/assets/a/b.js',
    '/_/index.html',
  ];
  for (const path of spellings) expect((await raw(`GET ${path}`, {})).status, path).toBe(404);
  expect((await raw('GET /_', {})).status).toBe(404);
  expect(reasonOf(await raw('PUT /_/api/now', await gateway.session()))).toEqual([405, 'method.not_allowed']);
});

test('an event stream without a body does not begin', async () => {
  const headers = await gateway.session();

  expect((await fetch(`${gateway.url}/_/api/events`, { method: 'HEAD', headers })).status).toBe(405);
});

test('every answer forbids what a page could do beyond itself', async () => {
  const session = await gateway.session();
  for (const line of [
    'GET /_/',
    'GET /_/api/access',
    'GET /_/api/now',
    'GET /_/api/nothing',
    'GET /_/assets/none.js',
  ]) {
    const { headers } = await raw(line, session);
    const only = (name: string) => headers.get(name)?.join();
    expect(only('content-security-policy'), line).toMatch(/^default-src 'none'; .*frame-ancestors 'none'/);
    expect(only('x-content-type-options')).toBe('nosniff');
    expect(only('referrer-policy')).toBe('no-referrer');
    expect(only('cross-origin-resource-policy')).toBe('same-origin');
    expect(only('cache-control')).toBe('no-store');
    expect(only('access-control-allow-origin')).toBeUndefined();
  }
});

describe('where others can reach the gateway', () => {
  const exposed = 'server: { host: 0.0.0.0 }\n';

  test('there is no page without a password, and a configuration that enables one is invalid', async () => {
    const without = await startInspected(`${exposed}${projects}`, { host: '0.0.0.0' });
    try {
      expect((await fetch(`${without.url}/_/api/access`)).status).toBe(404);
    } finally {
      await without.stop();
    }
    await expect(startInspected(`${exposed}inspector: { enabled: true }\n${projects}`)).rejects.toThrow(
      /password/,
    );
  });

  test('the password opens it; wrong ones are slowed down', async () => {
    const password = 'a-password-for-the-page-0123';
    const yaml = `${exposed}inspector: { enabled: true, password_file: page.txt }\n${projects}`;
    const there = await startInspected(yaml, { host: '0.0.0.0', files: { 'page.txt': `${password}\n` } });
    const login = (text: string) =>
      fetch(`${there.url}/_/api/session`, {
        method: 'POST',
        headers: json,
        body: JSON.stringify({ password: text }),
      });
    try {
      expect(await (await fetch(`${there.url}/_/api/access`)).json()).toMatchObject({ password: true });
      expect((await login(password)).status).toBe(200);
      const statuses: number[] = [];
      for (let i = 0; i < 12; i += 1) statuses.push((await login(`wrong-password-number-${i}`)).status);
      expect(statuses).toEqual([...Array(10).fill(401), 429, 429]);
      expect((await login(password)).status).toBe(429);
      // The owner's link still works.
      expect(await there.api('now')).toMatchObject({ minutes: expect.any(Array) });
    } finally {
      await there.stop();
    }
  });
});

test('a reload can switch it off, and on again', async () => {
  const session = await gateway.session();
  await gateway.reload(`inspector: { enabled: false }\n${projects}`);
  expect((await raw('GET /_/api/now', session)).status).toBe(404);
  await gateway.reload(projects);
  expect((await raw('GET /_/api/now', session)).status).toBe(200);
});
