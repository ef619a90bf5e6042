import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import type { GatewayConfig } from '../../src/gateway/gateway.ts';
import type { GatewayServer } from '../../src/gateway/serve.ts';
import { post, secrets } from '../kit/gateway.ts';
import { type ScriptedHost, startHost } from '../kit/host.ts';
import { gatewayConfigOf, serveConfig } from '../kit/served-config.ts';

const configFor = (host: ScriptedHost) =>
  gatewayConfigOf(`
providers:
  host: { dialect: openai, base_url: "${host.url}/v1", connections: 1 }
models: [{ match: "*", provider: host }]`);

const whole = (response: ServerResponse, text: string) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ text }));

async function ask({ url }: GatewayServer): Promise<[number, unknown]> {
  const gateway = { url, key: secrets.PROJECT_KEY };
  const answer = await post(gateway, '/v1/chat/completions', { model: 'm', messages: [] });
  return [answer.status, ((await answer.json()) as { text?: string }).text];
}

test('exchanges that began, and those that still wait in line, keep their configuration', async () => {
  const held: ServerResponse[] = [];
  const old = await startHost((response, { number }) => {
    if (number === 1) held.push(response);
    else whole(response, 'old');
  });
  const young = await startHost((response) => whole(response, 'young'));
  const config = await configFor(old);
  let arrived = 0;
  const keys: GatewayConfig['keys'] = {
    find: (key) => {
      arrived += 1;
      return config.keys.find(key);
    },
  };
  const started = await serveConfig({ ...config, keys });
  const first = ask(started);
  await old.reached(1);
  const second = ask(started); // the provider's one connection is taken: it waits
  while (arrived < 2) await new Promise((resolve) => setImmediate(resolve));

  (await started.prepare(await configFor(young))).commit();
  const third = await ask(started);
  for (const response of held) whole(response, 'old');

  expect(third).toEqual([200, 'young']);
  expect(await Promise.all([first, second])).toEqual([
    [200, 'old'],
    [200, 'old'],
  ]);
  await old.closed(1); // nothing is left of the old configuration
});

test('a breaker that is open stays open over a reload, unless the provider itself was configured anew', async () => {
  const broken = await startHost((response) => void response.writeHead(500).end());
  const config = await configFor(broken);
  const started = await serveConfig(config);
  const untilOpen = config.providers[0]?.breaker.failures as number;
  for (let failures = 0; failures < untilOpen; failures += 1) expect((await ask(started))[0]).toBe(500);
  expect((await ask(started))[0]).toBe(503);
  expect(broken.requests.length).toBe(untilOpen);

  (await started.prepare(await configFor(broken))).commit();
  expect((await ask(started))[0]).toBe(503);
  expect(broken.requests.length).toBe(untilOpen);

  const [provider] = config.providers;
  const providers = provider === undefined ? [] : [{ ...provider, connections: 2 }];
  (await started.prepare({ ...config, providers })).commit();
  expect((await ask(started))[0]).toBe(500);
  expect(broken.requests.length).toBe(untilOpen + 1);
});
