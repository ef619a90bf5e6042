import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { type GatewayServer, serveGateway } from '../../src/gateway/serve.ts';
import { defaultListenLimits } from '../../src/http/listen.ts';
import type { ExchangeRecord } from '../../src/record/record.ts';
import { gatewayConfig } from '../../src/server/gateway-config.ts';
import { type Script, startHost } from '../kit/host.ts';
import { emptyDirectory } from '../kit/own-configuration.ts';

const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

interface Observed {
  readonly server: GatewayServer;
  readonly finished: readonly ExchangeRecord[];
  readonly written: readonly ExchangeRecord[];
}

async function start(script: Script): Promise<Observed> {
  const host = await startHost(script);
  closing.push(() => host.close());
  const directory = emptyDirectory();
  const file = join(directory, 'gateway.yaml');
  const yaml = `
providers:
  host: { dialect: openai, base_url: "${host.url}/v1", connections: 1 }
models: [{ match: "m", provider: host }]
projects: { shop: { keys: [{ id: web, value: "\${KEY}" }] } }
`;
  writeFileSync(file, yaml, { mode: 0o600 });
  const env = { KEY: 'project-key-0123456789' };
  const { config } = await loadConfig({ file, cwd: directory, env, nowMs: Date.now() });
  const finished: ExchangeRecord[] = [];
  const written: ExchangeRecord[] = [];
  const server = await serveGateway({
    host: '127.0.0.1',
    port: 0,
    limits: { ...defaultListenLimits, drainMs: 0 },
    config: gatewayConfig(config, undefined),
    record: (record) => written.push(record),
    observers: [{ finished: (record) => finished.push(record) }],
  });
  closing.push(() => server.drain());
  return { server, finished, written };
}

function ask({ url }: GatewayServer, body: object, signal?: AbortSignal): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': 'project-key-0123456789',
      'session-id': 'one',
    },
    body: JSON.stringify({ messages: [], ...body }),
    ...(signal === undefined ? {} : { signal }),
  });
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
