import { expect, onTestFinished, test } from 'vitest';
import type { ModelEntry } from '../../../src/config/build/models.ts';
import { listEntry } from '../../../src/gateway/local-endpoints/answer-locally.ts';
import { createModelCatalogue } from '../../../src/gateway/local-endpoints/models.ts';
import { createModelRouter } from '../../../src/providers/route.ts';
import { startHost } from '../../kit/host.ts';
import { makeProvider } from '../../providers/make-provider.ts';

const entry: ModelEntry = { match: '*', isPattern: true, targets: [{ provider: 'host' }] };

/** The catalogue of a provider that answers with these lists, the last one for good; undefined for a failure. */
async function catalogueOf(lists: readonly (readonly object[] | undefined)[]) {
  const host = await startHost((response, { number }) => {
    const data = lists[Math.min(number, lists.length) - 1];
    response.writeHead(data === undefined ? 500 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ data }));
  });
  const provider = makeProvider(host.url);
  onTestFinished(() => provider.close());
  const providers = new Map([['host', [provider]]]);
  let nowMs = 1;
  const catalogue = createModelCatalogue({
    entries: [entry],
    router: createModelRouter({
      models: [entry],
      findModel: () => entry,
      findKnown: () => undefined,
      providers,
    }),
    providers,
    startedMs: 60_000,
    clock: () => nowMs,
  });
  return {
    ids: async () => (await catalogue.list()).map(({ id }) => id),
    dates: async () => (await catalogue.list()).map((model) => listEntry(model).created_at),
    host,
    wait: (ms: number) => {
      nowMs += ms;
    },
  };
}

test('a provider that failed is asked again after seconds, not minutes', async () => {
  const { ids, host, wait } = await catalogueOf([undefined, [{ id: 'late' }]]);

  const first = await ids();
  const again = await ids();
  const requests = host.requests.length;
  wait(5_000);
  const later = await ids();

  expect([first, again, requests, later]).toEqual([[], [], 1, ['late']]);
});

test('a list stays fresh for five minutes', async () => {
  const { ids, host, wait } = await catalogueOf([[{ id: 'one' }], [{ id: 'one' }, { id: 'two' }]]);

  await ids();
  wait(299_000);
  const fresh = await ids();
  const requests = host.requests.length;
  wait(1_000);
  await ids();

  await expect.poll(ids).toEqual(['one', 'two']);
  expect([fresh, requests, host.requests.length]).toEqual([['one'], 1, 2]);
});

test('a date that is none is that of the start, and the list is still a list', async () => {
  const { dates } = await catalogueOf([
    [
      { id: 'seconds', created: 1_700_000_000 },
      { id: 'nanoseconds', created: 1_700_000_000_000_000_000 },
      { id: 'text', created_at: 'yesterday' },
      { id: 'date', created_at: '2025-02-24T00:00:00Z' },
    ],
  ]);

  expect(await dates()).toEqual([
    '2023-11-14T22:13:20Z',
    '1970-01-01T00:01:00Z',
    '1970-01-01T00:01:00Z',
    '2025-02-24T00:00:00Z',
  ]);
});
