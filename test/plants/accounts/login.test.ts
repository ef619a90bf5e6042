import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../../../src/plants/database/open.ts';
import { addUser } from '../../../src/plants/store.ts';
import { describeDatabases } from '../databases.ts';
import { logIn, rosa, startTestStore, type TestStore } from '../fixture.ts';

const loginPath = '/user/auth/login';

describeDatabases('logging in', (databases) => {
  let store: TestStore;
  let now = Date.UTC(2027, 0, 1);
  beforeAll(async () => {
    store = await startTestStore(databases, { now: () => now });
  });
  afterAll(() => store.drain());

  const byQuery = (username: string, password: string) =>
    store.send({ path: `${loginPath}?username=${username}&password=${encodeURIComponent(password)}` });
  const byBody = (username: string, password: string, from = '127.0.0.1') =>
    store.send({ method: 'POST', path: loginPath, body: { username, password }, from });
  const nextMinute = () => {
    now += 61_000;
  };

  test('a login by query or body returns a token, its expiry and a guarded cookie', async () => {
    for (const answer of [await byQuery('rosa', rosa.password), await byBody('ROSA', rosa.password)]) {
      expect(answer.status).toBe(200);
      expect(answer.json).toEqual({ token: expect.stringMatching(/^[\w-]{43}$/), expiresIn: 3600 });
      expect(answer.headers['set-cookie']).toEqual([
        `session=${answer.json.token}; Path=/v3; HttpOnly; SameSite=Strict; Max-Age=3600`,
      ]);
    }
  });

  test('a wrong password and an unknown user get the same answer', async () => {
    nextMinute();
    const wrong = await byBody('rosa', 'not the password');
    const unknown = await byBody('nobody', 'not the password');
    const impossible = await byBody("ro\0sa' or 1=1", 'not the password');
    nextMinute();

    for (const { status, json } of [wrong, unknown, impossible]) {
      expect({ status, error: json.error }).toEqual({ status: 401, error: wrong.json.error });
    }
  });

  test('the sixth attempt in a minute is refused, even with the right password, until the minute is over', async () => {
    nextMinute();
    const failures = [];
    for (let i = 0; i < 5; i += 1) failures.push((await byQuery('rosa', `wrong ${i}`)).status);
    const right = await byQuery('rosa', rosa.password);
    const otherUser = await byBody('somebody', 'x');
    nextMinute();
    const later = await byBody('rosa', rosa.password);

    expect(failures).toEqual([401, 401, 401, 401, 401]);
    expect(right).toMatchObject({ status: 429, json: { error: { reason: 'login.throttled' } } });
    expect(Number(right.headers['retry-after'])).toBeGreaterThan(0);
    expect(otherUser.status).toBe(401);
    expect(later.status).toBe(200);
  });

  test('concurrent attempts get no more tries than sequential ones', async () => {
    nextMinute();
    const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => byBody('rosa', `wrong ${i}`)));
    nextMinute();

    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(5);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(7);
  });

  test('logging out ends that session alone, clears the cookie and may be repeated', async () => {
    const [mine, other] = [await logIn(store), await logIn(store)];

    const first = await store.send({ path: '/user/auth/logout', token: mine });
    const again = await store.send({ path: '/user/auth/logout', token: mine });
    const nobody = await store.send({ path: '/user/auth/logout' });

    expect([first.status, again.status, nobody.status]).toEqual([200, 200, 200]);
    expect(first.headers['set-cookie']?.[0]).toContain(
      'session=; Path=/v3; HttpOnly; SameSite=Strict; Max-Age=0',
    );
    expect((await store.send({ path: '/user/@me', token: mine })).status).toBe(401);
    expect((await store.send({ path: '/user/@me', token: other })).status).toBe(200);
  });

  test('a session ends after its time', async () => {
    const token = await logIn(store);
    now += 3_599_000;
    const before = await store.send({ path: '/user/@me', token });
    now += 2_000;
    const after = await store.send({ path: '/user/@me', token });
    const write = await store.send({ method: 'POST', path: '/plant', token, body: { name: 'late' } });

    expect(before.status).toBe(200);
    expect(after).toMatchObject({ status: 401, json: { error: { reason: 'login.required' } } });
    expect(write.status).toBe(401);
  });

  test("another user's session shows that user alone", async () => {
    await addUser(store.database, { username: 'anna', password: 'another password' });
    const token = await logIn(store, { username: 'anna', password: 'another password' });
    const [own, other, unknown] = await Promise.all(
      ['anna', 'rosa', 'nobody'].map((name) => store.send({ path: `/user/${name}`, token })),
    );

    expect(own?.json).toMatchObject({ username: 'anna', email: '' });
    expect(other?.status).toBe(404);
    expect(other?.json.error).toEqual(unknown?.json.error);
    expect(other?.text).not.toContain('rosa@example.org');
  });

  test('neither tokens nor passwords are in the database, and what has ended is cleaned away', async () => {
    const token = await logIn(store);
    const { queries } = await openDatabase(store.database);
    const dump = async () =>
      JSON.stringify([
        await queries.selectFrom('sessions').selectAll().execute(),
        await queries.selectFrom('users').selectAll().execute(),
        await queries.selectFrom('login_failures').selectAll().execute(),
      ]);
    const text = await dump();
    now += 7_200_000;
    const again = await startTestStore(databases, { database: store.database, now: () => now });
    await again.drain();
    const left = await queries.selectFrom('sessions').select('expires_at').execute();
    await queries.destroy();

    expect(text).not.toContain(token);
    expect(text).not.toContain(rosa.password);
    expect(text).toContain('scrypt$131072$8$1$');
    expect(left.every(({ expires_at }) => expires_at > now)).toBe(true);
  });

  // What follows asks nothing of the database that the other one may do differently.
  if (databases.kind !== 'sqlite') return;

  test('off loopback the cookie is for encrypted connections only', async () => {
    const other = await startTestStore(databases, {
      database: store.database,
      allowedHosts: ['plants.example'],
      now: () => now,
    });
    const { headers } = await other.send({
      method: 'POST',
      path: loginPath,
      body: rosa,
      headers: { host: 'plants.example' },
    });
    await other.drain();

    expect(headers['set-cookie']?.[0]).toMatch(/; Secure$/);
  });

  test('the token opens what needs a login, as bearer and as cookie, and nothing else does', async () => {
    const token = await logIn(store);
    const me = (headers: Record<string, string>) => store.send({ path: '/user/rosa', headers });

    expect((await me({ authorization: `Bearer ${token}` })).json).toEqual({
      id: 1,
      username: 'rosa',
      email: 'rosa@example.org',
    });
    expect((await me({ cookie: `a=b; session=${token}` })).status).toBe(200);
    expect((await me({ cookie: `session=from-another-port; session=${token}` })).status).toBe(200);
    expect((await me({})).status).toBe(401);
    expect((await me({ authorization: token })).status).toBe(401);
    expect((await me({ authorization: `Basic ${token}` })).status).toBe(401);
    expect((await me({ authorization: `Bearer ${token}x` })).status).toBe(401);
    expect((await me({ authorization: `Bearer ${'A'.repeat(43)}` })).status).toBe(401);
    expect((await me({ cookie: `session=${'A'.repeat(43)}` })).status).toBe(401);
    // A bearer token that is no good is not made up for by a cookie that is.
    expect((await me({ authorization: 'Bearer x', cookie: `session=${token}` })).status).toBe(401);
  });

  test.each([
    [loginPath, 'username'],
    [`${loginPath}?password=x`, 'username'],
    [`${loginPath}?username=rosa&username=anna&password=x`, 'username'],
    [`${loginPath}?username=rosa&password=${'x'.repeat(1025)}`, 'password'],
  ])('%s is refused with 400', async (path, param) => {
    const { status, json } = await store.send({ path });

    expect({ status, param: json.error.param }).toEqual({ status: 400, param });
  });

  test.each([
    [{ username: 'rosa', password: ['x'] }, 'password'],
    [{ username: 'rosa', password: 'x', remember: true }, 'remember'],
    [[], 'body'],
  ])('the body %j is refused with 400', async (body, param) => {
    const { status, json } = await store.send({ method: 'POST', path: loginPath, body });

    expect({ status, param: json.error.param }).toEqual({ status: 400, param });
  });

  test('failures at one address lock the user out only there', async () => {
    nextMinute();
    for (let i = 0; i < 6; i += 1) await byBody('rosa', `wrong ${i}`, '127.0.0.66');
    const attacker = await byBody('rosa', rosa.password, '127.0.0.66');
    const owner = await byBody('rosa', rosa.password);

    expect(attacker).toMatchObject({ status: 429, json: { error: { reason: 'login.throttled' } } });
    expect(owner.status).toBe(200);
  });

  test('guesses at many users from one address are refused after thirty', async () => {
    nextMinute();
    const statuses = [];
    for (let i = 0; i < 32; i += 1) statuses.push((await byBody(`user${i}`, 'x', '127.0.0.67')).status);
    const elsewhere = await byBody('user0', 'x', '127.0.0.68');

    expect(statuses).toEqual([...Array(30).fill(401), 429, 429]);
    expect(elsewhere.status).toBe(401);
  });

  test('logins that succeed are not counted', async () => {
    nextMinute();
    const statuses = [];
    for (let i = 0; i < 6; i += 1) statuses.push((await byBody('rosa', rosa.password)).status);

    expect(statuses).toEqual(Array(6).fill(200));
  });

  test('without a login nothing is changed or read of the body', async () => {
    const post = await store.send({ method: 'POST', path: '/plant', body: '{"broken' });
    const put = await store.send({ method: 'PUT', path: '/plant', body: { id: 1, status: 'sold' } });

    expect([post.status, put.status]).toEqual([401, 401]);
    expect(post.headers['www-authenticate']).toBe('Bearer');
    expect((await store.send({ path: '/plant/1' })).json.status).toBe('available');
  });

  test('a cookie changes something only from a page of this service, or from none', async () => {
    const token = await logIn(store);
    const own = new URL(store.url).origin;
    const add = (headers: Record<string, string>) =>
      store.send({
        method: 'POST',
        path: '/plant',
        body: { name: 'by cookie' },
        headers: { cookie: `session=${token}`, ...headers },
      });

    expect((await add({})).status).toBe(200);
    expect((await add({ origin: own, 'sec-fetch-site': 'same-origin' })).status).toBe(200);
    expect((await add({ origin: 'https://attacker.example' })).status).toBe(403);
    expect((await add({ origin: 'http://127.0.0.1:1' })).status).toBe(403);
    expect((await add({ origin: 'null' })).status).toBe(403);
    expect((await add({ 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await add({ 'sec-fetch-site': 'same-site' })).status).toBe(403);
  });

  test("another page's image neither logs in nor out, and uses up no attempts", async () => {
    nextMinute();
    const token = await logIn(store);
    const image = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' };
    const logins = [];
    for (let i = 0; i < 6; i += 1) {
      logins.push(
        (await store.send({ path: `${loginPath}?username=rosa&password=x`, headers: image })).status,
      );
    }
    const logout = await store.send({
      path: '/user/auth/logout',
      headers: { ...image, cookie: `session=${token}` },
    });

    expect(logins).toEqual(Array(6).fill(403));
    expect(logout.status).toBe(403);
    expect((await store.send({ path: '/user/@me', token })).status).toBe(200);
    expect((await byBody('rosa', rosa.password)).status).toBe(200);
  });

  test('an origin that the configuration lists may read, but not change by cookie', async () => {
    nextMinute();
    const origin = 'https://shop.example';
    const other = await startTestStore(databases, {
      database: store.database,
      allowedOrigins: [origin],
      now: () => now,
    });
    const headers = { origin, cookie: `session=${other.token}` };

    const read = await other.send({ path: '/plant/1', headers });
    const change = await other.send({ method: 'POST', path: '/plant', body: { name: 'x' }, headers });
    await other.drain();

    expect([read.status, change.status]).toEqual([200, 403]);
  });
});
