import { expect, test } from 'vitest';
import type { GatewayServer } from '../../src/gateway/serve.ts';
import type { ExchangeRecord } from '../../src/record/record.ts';
import { post, secrets } from '../kit/gateway.ts';
import { type Script, startHost } from '../kit/host.ts';
import { gatewayConfigOf, serveConfig } from '../kit/served-config.ts';

interface Observed {
  readonly server: GatewayServer;
  readonly finished: readonly ExchangeRecord[];
  readonly written: readonly ExchangeRecord[];
}

async function start(script: Script): Promise<Observed> {
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
    observers: [{ finished: (record) => finished.push(record) }],
  });
  return { server, finished, written };
}

function ask({ url }: GatewayServer, body: object, signal?: AbortSignal): Promise<Response> {
  const init = { headers: { 'session-id': 'one' }, ...(signal !== undefined && { signal }) };
  return post({ url, key: secrets.PROJECT_KEY }, '/v1/chat/completions', { messages: [], ...body }, init);
}

test('an observer gets every exchange, repeated refusals too, which the records fold', async () => {
  const { server, finished, written } = await start((response) => void response.end());

  for (let i = 0; i < 3; i += 1) await (await ask(server, { model: 'unknown' })).text();

  expect(finished.map(({ reason }) => reason)).toEqual(['model.unknown', 'model.unknown', 'model.unknown']);
  expect(written).toHaveLength(1);
});

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

  await ask(server, { model: 'm', stream: true }, leave.signal);
  const waiting = ask(server, { model: 'm' }, leave.signal).catch(() => 'left');
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
