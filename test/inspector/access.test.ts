import { describe, expect, test } from 'vitest';
import { type PageSession, PageSessions } from '../../src/inspector/access/sessions.ts';
import { challengeHeader } from '../../src/lib/owner-proof.ts';
import { projects } from '../kit/gateway.ts';
import { type InspectedGateway, startInspected } from '../kit/inspector.ts';
import { type RawAnswer, sendRaw } from '../kit/raw.ts';

const gateway = await startInspected(projects);

type Headers = Readonly<Record<string, string>>;

/** A request as its bytes say it, which no browser and no client of ours has mended. */
function raw(line: string, headers: Headers, body = ''): Promise<RawAnswer> {
  const all = { host: `127.0.0.1:${gateway.port}`, 'content-length': String(body.length), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return sendRaw(gateway.port, `${line} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
}

function reasonOf({ status, body }: RawAnswer): readonly [number, string] {
  return [status, (JSON.parse(body.toString()) as { error: { reason: string } }).error.reason];
}

/** Opens a session of a gateway with a link's token or a password. */
function signIn({ url }: InspectedGateway, credentials: object): Promise<Response> {
  const body = JSON.stringify(credentials);
  return fetch(`${url}/_/api/session`, { method: 'POST', headers: json, body });
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
    const { cookie = '', 'x-inspector-token': token = '' } = await gateway.session();
    const other = await gateway.newSession();
    const attempts: Headers[] = [
      {},
      // What another user's server on another port is sent by the browser: the cookie alone.
      { cookie },
      { 'x-inspector-token': token },
      { cookie, 'x-inspector-token': '' },
      { cookie, 'x-inspector-token': '0'.repeat(64) },
      { cookie: cookie.replace(/=.*/, `=${'0'.repeat(64)}`), 'x-inspector-token': token },
      { cookie: cookie.replace(/=.*/, '='), 'x-inspector-token': token },
      // Halves of two sessions.
      { cookie, 'x-inspector-token': other['x-inspector-token'] ?? '' },
      // The other way round, and one half twice.
      { cookie: cookie.replace(/=.*/, `=${token}`), 'x-inspector-token': cookie.replace(/.*=/, '') },
      { cookie: cookie.replace(/=.*/, `=${token}`), 'x-inspector-token': token },
      // A session of another port.
      { cookie: cookie.replace(/-\d+=/, '-1='), 'x-inspector-token': token },
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

    test('a session that was ended is refused; the others are not', async () => {
      const [ended, other] = [await gateway.newSession(), await gateway.newSession()];
      const answer = await end(gateway, 'session', ended);

      expect(answer.status).toBe(204);
      expect(answer.headers.get('set-cookie')).toContain('Max-Age=0');
      expect([await status(gateway, ended), await status(gateway, other)]).toEqual([401, 200]);
    });

    test('no session and no link outlives the gateway', async () => {
      const before = await startInspected(projects);
      const session = await before.newSession();
      const token = await before.token();
      await before.stop();
      const after = await startInspected(projects, { port: before.port });

      expect([await status(after, session), (await signIn(after, { token })).status]).toEqual([401, 401]);
    });

    test('all sessions end together, with unopened links and event streams', async () => {
      const there = await startInspected(projects);
      const [one, other] = [await there.newSession(), await there.newSession()];
      const token = await there.token();
      const stream = await fetch(`${there.url}/_/api/events`, { headers: other });
      await end(there, 'sessions', one);
      const rest = await stream.text(); // the stream ends
      const late = await signIn(there, { token });

      expect(rest).not.toContain('resync');
      expect([await status(there, one), await status(there, other), late.status]).toEqual([401, 401, 401]);
      expect(await status(there, await there.newSession())).toBe(200);
    });

    const isOpen = (sessions: PageSessions, { cookie, token }: PageSession) => {
      const headers = { cookie: cookie.split(';')[0], 'x-inspector-token': token };
      try {
        sessions.require({ header: (name: string) => headers[name as keyof typeof headers] });
        return true;
      } catch (error) {
        expect(error).toMatchObject({ code: 'session.required' });
        return false;
      }
    };

    test('a hundred sessions are kept, and the oldest goes', () => {
      const sessions = new PageSessions(() => 4100);
      const hundred = Array.from({ length: 100 }, () => sessions.open());
      const before = hundred.every((session) => isOpen(sessions, session));
      const last = sessions.open();

      const after = [...hundred, last].map((session) => isOpen(sessions, session));

      expect(before).toBe(true);
      expect(after).toEqual([false, ...Array(100).fill(true)]);
    });

    test('a session ends after a week, and a link after a minute', () => {
      let nowMs = 1_000;
      const sessions = new PageSessions(
        () => 4100,
        () => nowMs,
      );
      const session = sessions.open();
      const link = sessions.issueLink();

      nowMs += 60_000;
      const isOpenForAMinute = isOpen(sessions, session);
      const isLinkGood = sessions.redeem(link);
      nowMs += 7 * 24 * 3_600_000;

      expect([isOpenForAMinute, isLinkGood, isOpen(sessions, session)]).toEqual([true, false, false]);
    });
  });
});

test('the address itself leads a browser to the page, and tells a program what is there', async () => {
  const asked = (accept: string) => fetch(gateway.url, { headers: { accept } });

  expect(await (await asked('text/html')).text()).toContain('<a href="/_/">The live page</a>');
  expect(await (await asked('*/*')).json()).toMatchObject({ name: 'gateway' });
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
  const session = await gateway.session();
  expect(reasonOf(await raw('PUT /_/api/now', session))).toEqual([405, 'method.not_allowed']);
  // An event stream without a body would never end.
  const head = await fetch(`${gateway.url}/_/api/events`, { method: 'HEAD', headers: session });
  expect(head.status).toBe(405);
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
    // Never a page that a browser would run.
    if (line !== 'GET /_/') expect(only('content-type'), line).toBe('application/json');
  }
});

describe('where others can reach the gateway', () => {
  const exposed = 'server: { host: 0.0.0.0 }\n';

  test('there is no page without a password, and a configuration that enables one is invalid', async () => {
    const without = await startInspected(`${exposed}${projects}`, { host: '0.0.0.0' });

    expect((await fetch(`${without.url}/_/api/access`)).status).toBe(404);
    await expect(startInspected(`${exposed}inspector: { enabled: true }\n${projects}`)).rejects.toThrow(
      /password/,
    );
  });

  test('the password opens it; wrong ones are slowed down', async () => {
    const password = 'a-password-for-the-page-0123';
    const yaml = `${exposed}inspector: { enabled: true, password_file: page.txt }\n${projects}`;
    const there = await startInspected(yaml, { host: '0.0.0.0', files: { 'page.txt': `${password}\n` } });

    expect(await (await fetch(`${there.url}/_/api/access`)).json()).toMatchObject({ password: true });
    expect((await signIn(there, { password })).status).toBe(200);
    const statuses: number[] = [];
    for (let i = 0; i < 12; i += 1)
      statuses.push((await signIn(there, { password: `wrong-password-number-${i}` })).status);
    expect(statuses).toEqual([...Array(10).fill(401), 429, 429]);
    expect((await signIn(there, { password })).status).toBe(429);
    // The owner's link still works.
    expect(await there.api('now')).toMatchObject({ minutes: expect.any(Array) });
  });
});
