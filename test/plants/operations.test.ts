import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeDatabases } from './databases.ts';
import { startTestStore, type TestStore } from './fixture.ts';

describeDatabases('the catalogue', (databases) => {
  let store: TestStore;
  beforeAll(async () => {
    store = await startTestStore(databases);
  });
  afterAll(() => store.drain());

  const add = async (body: object): Promise<{ id: number }> => (await store.add(body)).json;

  test('an added plant comes back with its tags in the given order and spelling', async () => {
    const tags = ['Zebra', 'apple', 'Éclair', 'apple', '植物', '🌱'];

    const added = await store.add({ name: '  Ünïcødé 🌵 ', tags });
    const got = await store.send({ path: `/plant/${added.json.id}` });

    expect(added.status).toBe(200);
    expect(got.json).toEqual({ id: added.json.id, name: '  Ünïcødé 🌵 ', status: 'available', tags });
  });

  test('an update changes the given fields and keeps the rest', async () => {
    const { id } = await add({ name: 'Keep', category: 'herb', tags: ['a', 'b'] });

    const updated = await store.change({ id, status: 'sold' });
    const cleared = await store.change({ id, category: null, tags: [] });

    expect(updated.json).toEqual({ id, name: 'Keep', category: 'herb', status: 'sold', tags: ['a', 'b'] });
    expect(cleared.json).toEqual({ id, name: 'Keep', status: 'sold', tags: [] });
    expect((await store.send({ path: `/plant/${id}` })).json).toEqual(cleared.json);
  });

  test('an update finds the one plant of a name, and none or several are refused', async () => {
    const { id } = await add({ name: 'Only Once' });
    await add({ name: 'Twice' });
    await add({ name: 'Twice' });
    const put = (name: string) => store.change({ name, status: 'sold' });

    expect((await put('Only Once')).json).toMatchObject({ id, status: 'sold' });
    expect(await put('Twice')).toMatchObject({ status: 400, json: { error: { reason: 'plant.ambiguous' } } });
    expect(await put('Never')).toMatchObject({ status: 404, json: { error: { reason: 'plant.unknown' } } });
  });

  test('an update with new tags is found by the new ones only', async () => {
    const { id } = await add({ name: 'Moved', tags: ['was-here'] });

    await store.change({ id, tags: ['IS-here'] });

    expect((await store.send({ path: '/plant/search/tags?tags=was-here' })).json).toEqual([]);
    expect((await store.send({ path: '/plant/search/tags?tags=is-HERE' })).json).toMatchObject([{ id }]);
  });

  test('a deleted plant is returned once more and then gone, from searches by tag too', async () => {
    const plant = await add({ name: 'Going', category: 'herb', tags: ['going-away'] });
    const path = `/plant/${plant.id}`;

    const anonymous = await store.send({ method: 'DELETE', path });
    const deleted = await store.sendLoggedIn({ method: 'DELETE', path });
    const again = await store.sendLoggedIn({ method: 'DELETE', path });

    expect(anonymous.status).toBe(401);
    expect(deleted).toMatchObject({ status: 200, json: plant });
    expect(again).toMatchObject({ status: 404, json: { error: { reason: 'plant.unknown' } } });
    expect((await store.send({ path })).status).toBe(404);
    expect((await store.send({ path: '/plant/search/tags?tags=going-away' })).json).toEqual([]);
  });

  test('updates at the same time leave one of them, whole', async () => {
    const { id } = await add({ name: 'Contended' });
    const variants = Array.from({ length: 10 }, (_, i) => ({ name: `v${i}`, tags: [`t${i}`] }));

    const answers = await Promise.all(variants.map((variant) => store.change({ id, ...variant })));
    const { json } = await store.send({ path: `/plant/${id}` });

    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(variants).toContainEqual({ name: json.name, tags: json.tags });
    expect((await store.send({ path: `/plant/search/tags?tags=${json.tags[0]}` })).json).toHaveLength(1);
  });

  test('no answer is kept by caches or names its address to other sites', async () => {
    const answers = await Promise.all([
      store.send({ path: '/plant/1' }),
      store.send({ path: '/plant/x' }),
      store.send({ path: '/user/auth/login?username=a' }),
    ]);

    for (const { headers } of answers) {
      expect(headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
      expect(headers['access-control-allow-origin']).toBeUndefined();
    }
  });
});

describeDatabases('tag search', (databases) => {
  let store: TestStore;
  const plants: { readonly id: number; readonly tags: readonly string[]; readonly status: string }[] = [];
  beforeAll(async () => {
    store = await startTestStore(databases);
    const { json } = await store.send({ path: '/plant/search/tags?limit=1000' });
    plants.push(...json);
    for (let i = 0; i < 40; i += 1) {
      const tags = ['x', 'Y', 'z', 'q'].filter((_, bit) => ((i * 7 + 3) >> bit) & 1);
      const body = { name: `p${i}`, tags, status: i % 3 === 0 ? 'sold' : 'available' };
      plants.push((await store.add(body)).json);
    }
  });
  afterAll(() => store.drain());

  const ids = (list: readonly { id: number }[]) => list.map(({ id }) => id);
  const expected = (tags: readonly string[], match: 'any' | 'all', status?: string) =>
    ids(
      plants.filter((plant) => {
        const own = plant.tags.map((tag) => tag.toLowerCase());
        const isMatch =
          match === 'any' ? tags.some((tag) => own.includes(tag)) : tags.every((tag) => own.includes(tag));
        return isMatch && (status === undefined || plant.status === status);
      }),
    );

  test.each([
    ['tags=x,y', ['x', 'y'], 'any', undefined],
    ['tags=X&tags=Y', ['x', 'y'], 'any', undefined],
    ['tags=%20x%20,%20z', ['x', 'z'], 'any', undefined],
    ['tags=x,y,z&match=all', ['x', 'y', 'z'], 'all', undefined],
    ['tags=x,green&match=all', ['x', 'green'], 'all', undefined],
    ['tags=x,q&match=all&status=sold', ['x', 'q'], 'all', 'sold'],
    ['tags=nobody-has-this,x&match=all', ['nobody-has-this', 'x'], 'all', undefined],
  ] as const)('%s finds what a plain filter finds, by id', async (query, tags, match, status) => {
    const { json } = await store.send({ path: `/plant/search/tags?${query}` });

    expect(ids(json)).toEqual(expected(tags, match, status));
  });

  test.each([
    ['tags?name=FERN', ['Boston Fern']],
    ['tags?category=HERB', ['Lavender', 'Basil', 'Rosemary']],
    ['status?category=herb&status=pending', ['Rosemary']],
    ['tags?tags=green,easy&match=all&name=plant&category=succulent', ['Jade Plant']],
    ['tags?name=no%25such', []],
    ['tags?name=_oston', []],
    ['tags?category=her', []],
  ])('%s finds by name and category', async (query, names) => {
    const { json } = await store.send({ path: `/plant/search/${query}` });

    expect(json.map(({ name }: { name: string }) => name)).toEqual(names);
  });

  test('names and categories are compared without case in every script, before and after a change', async () => {
    const { json } = await store.add({ name: 'ÉGLANTINE Ökologisch', category: 'BÄUME' });
    const search = async (query: string) =>
      ids((await store.send({ path: `/plant/search/tags?${query}` })).json);

    expect(await search(`name=${encodeURIComponent('églantine ö')}`)).toEqual([json.id]);
    expect(await search(`category=${encodeURIComponent('bäume')}`)).toEqual([json.id]);
    await store.change({ id: json.id, name: 'x', category: null });
    expect(await search(`name=${encodeURIComponent('églantine')}`)).toEqual([]);
    expect(await search(`category=${encodeURIComponent('bäume')}`)).toEqual([]);
    await store.sendLoggedIn({ method: 'DELETE', path: `/plant/${json.id}` });
  });

  test('pages follow one another through the Link header without a gap or a repeat', async () => {
    const seen: number[] = [];
    let path = '/plant/search/tags?tags=x%2Cy&limit=7';
    for (let page = 0; page < 20 && path !== ''; page += 1) {
      const { json, headers } = await store.send({ path });
      seen.push(...ids(json));
      path = /<\/v3([^>]+)>; rel="next"/.exec(String(headers.link ?? ''))?.[1] ?? '';
    }

    expect(path).toBe('');
    expect(seen).toEqual(expected(['x', 'y'], 'any'));
  });

  test('there is no Link if the last page is exactly full', async () => {
    const count = expected(['z'], 'any').length;

    const { json, headers } = await store.send({ path: `/plant/search/tags?tags=z&limit=${count}` });

    expect(json).toHaveLength(count);
    expect(headers.link).toBeUndefined();
  });
});
