import { afterAll, beforeAll, expect, test } from 'vitest';
import { isValid } from './contract.ts';
import { describeDatabases } from './databases.ts';
import { startTestStore, type TestStore } from './fixture.ts';

const sqlTexts = [
  "'; drop table plants; --",
  "' or '1'='1",
  '"; delete from plants; --',
  "\\'; --",
  '%',
  '_',
  '$1',
];

/** Bodies that are wrong for adding, and what is wrong with each. */
const wrongPlants: readonly (readonly [what: string, body: unknown, param: string])[] = [
  ['no name', {}, 'name'],
  ['a blank name', { name: ' \t ' }, 'name'],
  ['a name that is null', { name: null }, 'name'],
  ['a name of 201 characters beyond 16 bits', { name: '🌵'.repeat(201) }, 'name'],
  ['a name with a line end', { name: 'a\nb' }, 'name'],
  ['a name with NUL', { name: 'a\0b' }, 'name'],
  ['a name with half a surrogate pair', '{"name":"a\\ud800b"}', 'name'],
  ['an unknown status', { name: 'a', status: 'lost' }, 'status'],
  ['tags that are text', { name: 'a', tags: 'b' }, 'tags'],
  ['51 tags', { name: 'a', tags: Array(51).fill('t') }, 'tags'],
  ['a tag that is a number', { name: 'a', tags: ['ok', 7] }, 'tags[1]'],
  ['a tag of 51 characters', { name: 'a', tags: ['t'.repeat(51)] }, 'tags[0]'],
  ['a tag with a comma', { name: 'a', tags: ['b,c'] }, 'tags[0]'],
  ['an empty category', { name: 'a', category: '' }, 'category'],
  ['a category of 101 characters', { name: 'a', category: 'c'.repeat(101) }, 'category'],
  ['an unknown field', { name: 'a', colour: 'red' }, 'colour'],
  ['an own __proto__', '{"name":"a","__proto__":{"status":"sold"}}', '__proto__'],
  ['a list', [{ name: 'a' }], 'body'],
  ['null', 'null', 'body'],
];

describeDatabases('wrong input', (databases) => {
  let store: TestStore;
  let before: unknown;
  beforeAll(async () => {
    store = await startTestStore(databases);
    before = (await store.send({ path: '/plant/search/tags?limit=1000' })).json;
  });
  afterAll(async () => {
    const after = (await store.send({ path: '/plant/search/tags?limit=1000' })).json;
    await store.drain();
    // Nothing of all this changed anything.
    expect(after).toEqual(before);
  });

  test('a plant that is not there is 404, also at the greatest id', async () => {
    expect((await store.sendLoggedIn({ method: 'DELETE', path: '/plant/999999' })).status).toBe(404);
    expect((await store.send({ path: '/plant/999999' })).json.error.reason).toBe('plant.unknown');
    expect((await store.send({ path: '/plant/9007199254740991' })).status).toBe(404);
    expect((await store.change({ id: 9007199254740991, status: 'sold' })).status).toBe(404);
  });

  test.each(sqlTexts)('the text %s is a text everywhere', async (text) => {
    const tag = text.replaceAll(',', '');
    const encoded = encodeURIComponent(tag);

    expect((await store.send({ path: `/plant/search/tags?tags=${encoded}` })).json).toEqual([]);
    expect((await store.send({ path: `/plant/search/tags?name=${encoded}` })).json).toEqual([]);
    expect((await store.send({ path: `/plant/search/tags?category=${encoded}` })).json).toEqual([]);
    expect((await store.send({ path: `/plant/search/status?status=${encoded}` })).status).toBe(400);
    expect((await store.send({ path: `/plant/${encoded}` })).status).toBe(400);
    expect((await store.change({ name: text, status: 'sold' })).status).toBe(404);
    expect((await store.sendLoggedIn({ path: `/user/${encoded}` })).status).toBe(404);
  });

  // What follows asks nothing of the database that the other one may do differently.
  if (databases.kind !== 'sqlite') return;

  test.each(wrongPlants)('adding refuses %s with 405, as the contract does', async (_what, body, param) => {
    const { status, json, headers } = await store.add(body);

    expect({ status, reason: json.error.reason, param: json.error.param }).toEqual({
      status: 405,
      reason: 'plant.invalid',
      param,
    });
    expect(headers.allow).toBe('POST, PUT');
    expect(isValid('NewPlant', typeof body === 'string' ? JSON.parse(body) : body)).toBe(false);
  });

  test.each(wrongPlants.filter(([what]) => what !== 'no name'))(
    'updating refuses %s with 400',
    async (_what, body, param) => {
      const whole =
        typeof body === 'object' && body !== null && !Array.isArray(body) ? { id: 1, ...body } : body;

      const { status, json } = await store.change(whole);

      expect({ status, reason: json.error.reason }).toEqual({ status: 400, reason: 'request.field' });
      expect(json.error.param).toBe(param);
      expect(isValid('PlantChange', typeof whole === 'string' ? JSON.parse(whole) : whole)).toBe(false);
    },
  );

  test.each([
    ['neither id nor name', { status: 'sold' }],
    ['id 0', { id: 0 }],
    ['a fractional id', { id: 1.5 }],
    ['an id beyond 2^53', '{"id":9007199254740993}'],
  ])('updating refuses %s with 400', async (_what, body) => {
    const { status, json } = await store.change(body);

    expect({ status, param: json.error.param }).toEqual({ status: 400, param: 'id' });
  });

  test.each(['abc', '0', '-1', '1.5', '1e3', '9007199254740993', '%31%00', '%', '1%20', '0x10', 'null'])(
    'getting and deleting the plant %s are refused with 400',
    async (id) => {
      const path = `/plant/${id}`;
      for (const answer of [await store.send({ path }), await store.sendLoggedIn({ method: 'DELETE', path })])
        expect([answer.status, answer.json.error.param]).toEqual([400, 'plantId']);
    },
  );

  test.each([
    ['tags?tags=', 'tags'],
    ['tags?tags=a,', 'tags'],
    [`tags?tags=${'t'.repeat(51)}`, 'tags'],
    [`tags?tags=${Array(51).fill('t').join(',')}`, 'tags'],
    ['tags?tags=a%00', 'tags'],
    ['tags?tags=%ff', null],
    ['tags?%=a', null],
    ['tags?match=some', 'match'],
    ['tags?match=any&match=all', 'match'],
    ['tags?limit=0', 'limit'],
    ['tags?limit=1001', 'limit'],
    ['tags?limit=1.5', 'limit'],
    ['tags?after=-1', 'after'],
    ['tags?after=9007199254740993', 'after'],
    ['tags?name=%20', 'name'],
    ['tags?name=a%00', 'name'],
    [`tags?name=${'n'.repeat(201)}`, 'name'],
    ['status?status=lost', 'status'],
    ['status?status=sold&status=pending', 'status'],
  ])('searching %s is refused with 400', async (query, param) => {
    const { status, json } = await store.send({ path: `/plant/search/${query}` });

    expect({ status, reason: json.error.reason, param: json.error.param }).toEqual({
      status: 400,
      reason: 'request.field',
      param,
    });
  });

  test.each([
    ['broken JSON', '{"name":', 400, 'request.invalid_json'],
    ['no body', '', 400, 'request.invalid_json'],
    ['JSON that is nested too deeply to be a plant', '['.repeat(30_000), 400, 'request.invalid_json'],
    ['more than 64 KiB', JSON.stringify({ name: 'x'.repeat(70_000) }), 413, 'request.too_large'],
  ])('a body with %s is refused', async (_what, body, status, reason) => {
    const answer = await store.add(body);

    expect({ status: answer.status, reason: answer.json.error.reason }).toEqual({ status, reason });
    expect(answer.json.error.message).not.toContain('xxx');
  });

  test('a body that is not UTF-8 or not JSON by its type is refused', async () => {
    const headers = { authorization: `Bearer ${store.token}` };
    const bytes = await fetch(`${store.url}/plant`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: Buffer.from('7b226e616d65223a22ff227d', 'hex'),
    });
    const form = await store.sendLoggedIn({
      method: 'POST',
      path: '/plant',
      body: 'name=a',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });

    expect(bytes.status).toBe(400);
    expect(form).toMatchObject({ status: 415, json: { error: { reason: 'request.media_type' } } });
  });

  test.each([
    ['GET', '/plant/1/x', 404, undefined],
    ['GET', '/../v3/plant/1', 404, undefined],
    ['PATCH', '/plant/1', 405, 'GET, DELETE'],
    ['GET', '/plant', 405, 'POST, PUT'],
    ['OPTIONS', '/plant/1', 405, 'GET, DELETE'],
    ['HEAD', '/user/auth/logout', 405, 'GET'],
  ])('%s %s is %i', async (method, path, status, allow) => {
    const answer = await store.send({ method, path });

    expect(answer.status).toBe(status);
    expect(answer.headers.allow).toBe(allow);
  });

  test('a foreign host name is refused', async () => {
    const { status } = await store.send({ path: '/plant/1', headers: { host: 'plants.attacker.example' } });

    expect(status).toBe(421);
  });

  test('the log has no query, no name and no password', async () => {
    await store.send({ path: '/user/auth/login?username=secretname&password=hunter2' });
    await store.send({ path: '/plant/search/tags?tags=secrettag' });
    await store.send({ path: '/nowhere?password=hunter2' });
    await store.add({ name: 'secretplant', status: 'x' });

    expect(store.log.length).toBeGreaterThan(3);
    expect(JSON.stringify(store.log)).not.toMatch(/secret|hunter2|tags=/);
  });
});
