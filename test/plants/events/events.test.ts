import { once } from 'node:events';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeDatabases, describePostgres } from '../databases.ts';
import { logIn, startTestStore, type TestStore } from '../fixture.ts';
import { openWatcher, refusedWatcher, type TestWatcher, watch } from '../watcher.ts';

const subscribe = { action: 'subscribe' };

describeDatabases('events', (databases) => {
  let store: TestStore;
  let headers: Record<string, string>;
  let control: TestWatcher;
  beforeAll(async () => {
    store = await startTestStore(databases, { watcherLimits: { filters: 20, messages: 60 } });
    headers = { authorization: `Bearer ${store.token}` };
    control = await watch(store, subscribe);
  });
  afterAll(() => store.drain());

  const write = (method: string, body: object, on = store) =>
    on.sendLoggedIn({ method, path: '/plant', body });
  /** Writes and waits until the events of it have gone out, which may be after the answer. */
  const writeAndReceive = async (method: string, body: object) => {
    const count = control.events.length;
    const answer = await write(method, body);
    await control.received(count + 1);
    return answer;
  };
  const watching = (...messages: readonly unknown[]) => watch(store, ...messages);

  test('a watcher gets a new plant, its updates, its change of status and its end, in this order', async () => {
    const watcher = await watching(subscribe);

    const { json: plant } = await write('POST', { name: 'Watched', tags: ['a'], category: 'herb' });
    await write('PUT', { id: plant.id, tags: ['b'] });
    await write('PUT', { id: plant.id, status: 'sold' });
    await store.sendLoggedIn({ method: 'DELETE', path: `/plant/${plant.id}` });
    await watcher.received(5);
    await watcher.close();

    const occurredAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);
    expect(watcher.events).toEqual([
      { type: 'plant.created', occurredAt, data: plant },
      { type: 'plant.updated', occurredAt, data: { ...plant, tags: ['b'] } },
      { type: 'plant.updated', occurredAt, data: { ...plant, tags: ['b'], status: 'sold' } },
      {
        type: 'plant.status.changed',
        occurredAt,
        plantId: plant.id,
        previousStatus: 'available',
        newStatus: 'sold',
      },
      { type: 'plant.deleted', occurredAt, data: { ...plant, tags: ['b'], status: 'sold' } },
    ]);
  });

  test('the event of the greatest plant arrives whole', async () => {
    const watcher = await watching(subscribe);
    const body = {
      name: '"'.repeat(200),
      category: '植'.repeat(100),
      tags: Array.from({ length: 50 }, (_, i) => `${i}`.padEnd(50, '植')),
    };

    const { json } = await write('POST', body);
    await watcher.received(1);
    await watcher.close();

    expect(watcher.events).toMatchObject([{ type: 'plant.created', data: { id: json.id, ...body } }]);
  });

  test('nothing is sent before a subscription, after its end, or for what was refused', async () => {
    const watcher = await watching();
    await writeAndReceive('POST', { name: 'before' });
    watcher.send(subscribe);
    await watcher.settled();
    await write('POST', { name: '' });
    await write('PUT', { id: 999_999, status: 'sold' });
    await write('POST', { name: 'during' });
    await watcher.received(1);
    watcher.send({ action: 'unsubscribe' });
    await watcher.settled();
    await writeAndReceive('POST', { name: 'after' });
    watcher.send({ action: 'subscribe', eventTypes: ['plant.created'] });
    await watcher.settled();
    await write('POST', { name: 'again' });
    await watcher.received(2);
    await watcher.close();

    expect(watcher.events).toMatchObject([{ data: { name: 'during' } }, { data: { name: 'again' } }]);
  });

  test('filters select by type and plant, add up, and are removed one by one', async () => {
    const { json: one } = await writeAndReceive('POST', { name: 'one' });
    const { json: two } = await writeAndReceive('POST', { name: 'two' });
    const byStatus = { eventTypes: ['plant.status.changed'] };
    const byPlant = { plantId: two.id };
    const watcher = await watching({ ...subscribe, ...byStatus }, { ...subscribe, ...byPlant });

    await write('PUT', { id: one.id, status: 'sold' });
    await write('PUT', { id: two.id, status: 'sold' });
    await watcher.received(3);
    watcher.send({ action: 'unsubscribe', ...byPlant });
    await watcher.settled();
    await writeAndReceive('PUT', { id: two.id, tags: ['not wanted'] });
    await write('PUT', { id: one.id, status: 'pending' });
    await watcher.received(4);
    await watcher.close();

    expect(watcher.events).toMatchObject([
      { type: 'plant.status.changed', plantId: one.id },
      { type: 'plant.updated', data: { id: two.id } },
      { type: 'plant.status.changed', plantId: two.id },
      { type: 'plant.status.changed', plantId: one.id, newStatus: 'pending' },
    ]);
  });

  test('logging out disconnects the watchers of that session alone', async () => {
    const token = await logIn(store);
    const leaving = await watch({ url: store.url, token });
    const staying = await watching(subscribe);

    await store.send({ path: '/user/auth/logout', token });
    const code = await leaving.closed();
    await write('POST', { name: 'still here' });
    await staying.received(1);
    await staying.close();

    expect(code).toBe(1008);
  });

  test('a session that ended elsewhere, or ran out, ends its connections at the next round', async () => {
    let now = Date.now();
    const quick = await startTestStore(databases, { now: () => now, watcherLimits: { pingMs: 50 } });
    const watcher = await watch(quick);
    now += 3_601_000;
    const code = await watcher.closed();
    await quick.drain();

    expect(code).toBe(1008);
  });

  test('draining disconnects watchers and accepts no others', async () => {
    const other = await startTestStore(databases);
    const watcher = await watch(other);
    await Promise.all([other.drain(), once(watcher.socket, 'close')]);

    expect(await watcher.closed()).toBe(1001);
    await expect(openWatcher(other.url, {})).rejects.toThrow('ECONNREFUSED');
  });

  // What follows asks nothing of the database that the other one may do differently.
  if (databases.kind !== 'sqlite') return;

  test.each([
    ['no JSON', 'rubbish{', 'message'],
    ['null', 'null', 'message'],
    ['an unknown action', { action: 'delete' }, 'action'],
    ['an unknown field', { action: 'subscribe', where: '1=1' }, 'where'],
    ['an unknown type', { action: 'subscribe', eventTypes: ['plant.eaten'] }, 'eventTypes'],
    ['a plant beyond 2^53', '{"action":"subscribe","plantId":9007199254740993}', 'plantId'],
  ])('%s gets an error and no subscription, and the connection goes on', async (_what, message, param) => {
    const watcher = await watching(message);
    await watcher.received(1);
    await writeAndReceive('POST', { name: 'not wanted' });
    watcher.send(subscribe);
    await watcher.settled();
    await write('POST', { name: 'wanted' });
    await watcher.received(2);
    await watcher.close();

    expect(watcher.events).toMatchObject([
      { type: 'error', error: { reason: 'request.field', param } },
      { type: 'plant.created', data: { name: 'wanted' } },
    ]);
  });

  test('binary messages are refused, oversized ones end the connection', async () => {
    const binary = await watching();
    binary.socket.send(Buffer.from(JSON.stringify(subscribe)));
    await binary.received(1);
    await binary.close();
    const oversized = await watching();
    oversized.send('x'.repeat(5_000));

    expect(binary.events).toMatchObject([{ error: { param: 'message' } }]);
    expect(await oversized.closed()).toBe(1009);
  });

  test('a flood of subscriptions or of messages ends the connection', async () => {
    const many = await watching();
    for (let plantId = 1; plantId <= 21; plantId += 1) many.send({ ...subscribe, plantId });
    const often = await watching();
    for (let i = 0; i < 61; i += 1) often.send(subscribe);

    expect(await many.closed()).toBe(1008);
    expect(await often.closed()).toBe(1008);
  });

  test('the handshake needs a session, by bearer or cookie, and no foreign origin', async () => {
    const cookie = `session=${store.token}`;
    const byCookie = await openWatcher(store.url, { cookie, origin: new URL(store.url).origin });
    await byCookie.close();

    const refused = async (headers: Record<string, string>) =>
      Object.values(await refusedWatcher(store.url, headers));
    expect(await refused({})).toEqual([401, 'login.required']);
    expect(await refused({ authorization: `Bearer ${'A'.repeat(43)}` })).toEqual([401, 'login.required']);
    expect(await refused({ cookie, origin: 'https://attacker.example' })).toEqual([
      403,
      'origin.not_allowed',
    ]);
    expect(await refused({ ...headers, host: 'attacker.example' })).toEqual([421, 'host.not_allowed']);
  });
});

describePostgres('events of several instances', (databases, postgres) => {
  const subscribed = (store: Pick<TestStore, 'url' | 'token'>) => watch(store, subscribe);

  test('an event made on one instance reaches a watcher on the other', async () => {
    const one = await startTestStore(databases);
    const two = await startTestStore(databases, { database: one.database });
    const watcher = await subscribed({ url: two.url, token: one.token });

    const { json } = await one.add({ name: 'From one' });
    await one.change({ id: json.id, status: 'pending' });
    await watcher.received(3);
    await watcher.close();
    await Promise.all([one.drain(), two.drain()]);

    expect(watcher.events.map(({ type }) => type)).toEqual([
      'plant.created',
      'plant.updated',
      'plant.status.changed',
    ]);
  });

  const terminateListener = () =>
    postgres().run(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'plant store events'",
    );
  test('a listening connection that breaks disconnects the watchers with a code that says so, and is replaced', async () => {
    const store = await startTestStore(databases);
    await store.add({ name: 'before' });
    const watcher = await subscribed(store);
    await terminateListener();
    const code = await watcher.closed();
    let again = await subscribed(store).catch(() => undefined);
    for (let attempt = 0; attempt < 200 && again === undefined; attempt += 1) {
      await new Promise((resolve) => setTimeout(resolve, 25));
      again = await subscribed(store).catch(() => undefined);
    }
    await store.add({ name: 'after' });
    await again?.received(1);
    await again?.close();
    await store.drain();

    expect(code).toBe(1012);
    expect(again?.events).toMatchObject([{ data: { name: 'after' } }]);
  });

  test("another program's notifications change nothing", async () => {
    const store = await startTestStore(databases);
    const watcher = await subscribed(store);
    const other = new pg.Client({ connectionString: store.database });
    await other.connect();
    const inBase64 = (text: string) => `1/1 ${Buffer.from(text).toString('base64')}`;
    const texts = ['no list', '[null]', '[{"type":"plant.created"}]'];
    for (const payload of ['hello', '2/2 AAAA', ...texts.map(inBase64)])
      await other.query('select pg_notify($1, $2)', ['plant_events', payload]);
    await other.end();

    await store.add({ name: 'Ours' });
    await watcher.received(1);
    await watcher.close();
    await store.drain();

    expect(watcher.events).toMatchObject([{ data: { name: 'Ours' } }]);
  });
});
