import { expect, test } from 'vitest';
import type { GatewayServer } from '../../src/gateway/serve.ts';
import type { ExchangeRecord } from '../../src/record/record.ts';
import { post, secrets } from '../kit/gateway.ts';
import { type Script, startHost } from '../kit/host.ts';
import { gatewayConfigOf, serveConfig } from '../kit/served-config.ts';

async function start(script: Script) {
  const host = await startHost(script);
  const config = await gatewayConfigOf(`
providers:
  host: { dialect: openai, base_url: "${host.url}/v1", connections: 1 }
models: [{ match: "m", provider: host }]`);
  const finished: ExchangeRecord[] = [];
  const written: ExchangeRecord[] = [];
  const server = await serveConfig(config, {
    drainMs: 0,
    record: (record) => written.push(record),
    followers: [() => ({ ended: ({ record }) => finished.push(record) })],
  });
  return { server, finished, written };
}

function ask({ url }: GatewayServer, body: object, init: RequestInit = {}): Promise<Response> {
  return post({ url, key: secrets.PROJECT_KEY }, '/v1/chat/completions', { messages: [], ...body }, init);
}

test('a subscriber gets every exchange; of refusals that a session repeats the records have one, then a count', async () => {
  const { server, finished, written } = await start((response) => void response.end());
  const refuse = async (model: string, session?: string) => {
    const headers: Record<string, string> = session === undefined ? {} : { 'session-id': session };
    await (await ask(server, { model }, { headers })).text();
  };

  for (let i = 0; i < 6; i += 1) await refuse('unknown', 'one');
  await refuse('another', 'one');
  await refuse('unknown', 'two');
  await refuse('unknown');
  await refuse('unknown');
  const before = written.length;
  await server.drain();

  expect(finished.map(({ reason }) => reason)).toEqual(Array(10).fill('model.unknown'));
  expect(before).toBe(5);
  expect(written.slice(before)).toMatchObject([{ request_id: written[0]?.request_id, repeats: 5 }]);
});

test.each([300_000, 1_500_000])(
  'refusals of the same %i bytes are a repetition, those of others are not',
  async (bytes) => {
    const { server, written } = await start((response) => void response.end());
    for (const letter of ['a', 'a', 'b']) {
      const messages = [{ role: 'user', content: letter.repeat(bytes) }];
      await (await ask(server, { model: 'unknown', messages }, { headers: { 'session-id': 'one' } })).text();
    }
    const before = written.length;
    await server.drain();

    expect(before).toBe(2);
    expect(written.slice(before)).toMatchObject([{ request_id: written[0]?.request_id, repeats: 1 }]);
  },
);

test('gauges count open exchanges and streams, and who has a place at a provider or waits for one', async () => {
  const { server } = await start((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
  });
  expect(server.gauges()).toEqual({
    open: { exchanges: 0, streams: 0 },
    providers: [{ name: 'host', active: 0, queued: 0, isOpen: false, openModels: 0 }],
    ledger: undefined,
    isStateShared: true,
  });
  const leave = new AbortController();

  await ask(server, { model: 'm', stream: true }, { signal: leave.signal });
  const waiting = ask(server, { model: 'm' }, { signal: leave.signal }).catch(() => 'left');
  while (server.gauges().open.exchanges < 2 || server.gauges().providers[0]?.queued === 0) {
    await new Promise(setImmediate);
  }

  expect(server.gauges()).toMatchObject({
    open: { exchanges: 2, streams: 1 },
    providers: [{ name: 'host', active: 1, queued: 1 }],
  });
  leave.abort();
  expect(await waiting).toBe('left');
  while (server.gauges().open.exchanges > 0) await new Promise(setImmediate);
  expect(server.gauges().providers).toMatchObject([{ active: 0, queued: 0 }]);
});
