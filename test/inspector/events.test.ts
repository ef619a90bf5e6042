import { createParser } from 'eventsource-parser';
import { afterEach, expect, test, vi } from 'vitest';
import type { ExchangeRow, ListResponse } from '../../src/inspector/contract/exchange-list.ts';
import { projects } from '../kit/gateway.ts';
import { startInspected } from '../kit/inspector.ts';
import { RawConnection } from '../kit/raw.ts';

const gateway = await startInspected(projects);

const closing: (() => unknown)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

interface Received {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: unknown;
}

async function view(lastEventId?: string) {
  const stop = new AbortController();
  const headers = {
    ...(await gateway.session()),
    ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
  };
  const response = await fetch(`${gateway.url}/_/api/events`, { headers, signal: stop.signal });
  const events: Received[] = [];
  const parser = createParser({
    onEvent: ({ event = '', id, data }) => events.push({ event, id, data: JSON.parse(data) }),
  });
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? [])
      parser.feed(decoder.decode(chunk as Uint8Array, { stream: true }));
  };
  read().catch(() => undefined); // closed by the test, or by the gateway's end
  closing.push(() => stop.abort());
  return {
    status: response.status,
    events,
    until: (isMeant: (event: Received) => boolean) =>
      vi.waitFor(() => events.find(isMeant) ?? Promise.reject(new Error('it has not come yet')), 30_000),
    close: () => stop.abort(),
  };
}

const chat = (body: object = {}) => gateway.say('hi', body);

const isEndOf = (id: string) => (event: Received) => {
  const row = event.data as ExchangeRow;
  return row.id === id && row.state === 'finished';
};

test('a viewer sees exchanges begin, go on and end, and the numbers of now', async () => {
  const viewer = await view();

  const id = await chat({ model: 'sandbox-slow', stream: true });

  await viewer.until(isEndOf(id));
  const states = viewer.events
    .map(({ data }) => data as ExchangeRow)
    .filter((row) => row.id === id)
    .map(({ state }) => state);
  expect(states.slice(0, -1)).toEqual(Array(states.length - 1).fill('open'));
  expect(states.length).toBeGreaterThan(2);
  await viewer.until(({ event }) => event === 'now');
});

test('after a cut nothing is missing and nothing comes twice, and the cursor of a list leads there too', async () => {
  const first = await view();
  const seen = await chat();
  const last = await first.until(isEndOf(seen));
  first.close();
  const { cursor, rows } = (await gateway.api('exchanges')) as ListResponse;
  const missed = await chat();

  expect(rows[0]).toMatchObject({ id: seen, state: 'finished' });
  for (const from of [last.id, cursor]) {
    const again = await view(from);
    await again.until(isEndOf(missed));
    expect(again.events.map(({ event, data }) => [event, (data as ExchangeRow).id])).toEqual([
      ['row', missed],
    ]);
  }
});

test('viewers see the same, and one that does not read costs nothing and loses nothing', async () => {
  const viewers = await Promise.all(Array.from({ length: 9 }, () => view()));
  const stuck = new RawConnection(gateway.port);
  closing.push(() => stuck.socket.destroy());
  const headers = Object.entries(await gateway.session()).map(([name, value]) => `${name}: ${value}\r\n`);
  await stuck.write(
    `GET /_/api/events HTTP/1.1\r\nhost: 127.0.0.1:${gateway.port}\r\n${headers.join('')}\r\n`,
  );
  stuck.socket.pause();

  const ids = await Promise.all(Array.from({ length: 20 }, () => chat()));

  for (const viewer of viewers) for (const id of ids) await viewer.until(isEndOf(id));
  expect(viewers.every(({ events }) => events.every(({ event }) => event !== 'resync'))).toBe(true);
  expect(await chat()).toMatch(/^req_/);
}, 60_000);

test('the hundred and first page is refused', async () => {
  await Promise.all(Array.from({ length: 100 }, () => view()));

  expect((await view()).status).toBe(429);
}, 60_000);

test('open streams do not hold up the end of the gateway', async () => {
  await view();
  const startedMs = performance.now();

  await gateway.stop();

  expect(performance.now() - startedMs).toBeLessThan(5_000);
});
