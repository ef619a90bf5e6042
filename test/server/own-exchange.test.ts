import { expect, test } from 'vitest';
import { exchangeWithItself } from '../../src/server/own-exchange.ts';
import { startHost } from '../kit/host.ts';
import { gatewayConfigOf } from '../kit/served-config.ts';

const configAt = (url: string) =>
  gatewayConfigOf(`
providers:
  host: { dialect: anthropic, base_url: "${url}", api_key: "\${PROVIDER_KEY}" }
models: [{ match: "*", provider: host }]
policies: { house: { apply: all, rules: [{ id: none, action: block, when: { text: { phrases: [the] } } }] } }`);

test('a gateway that exists for it alone is answered, and the configured provider hears nothing', async () => {
  const host = await startHost((response) => void response.writeHead(200).end());
  const config = await configAt(host.url);
  const used: string[] = [];
  const watched = { ...config, keys: { find: (key: string) => void used.push(key) } };

  expect(await exchangeWithItself(watched, () => false)).toBe(1);
  expect(host.requests).toEqual([]);
  expect(used).toEqual([]);
});

test('it is left out while somebody waits', async () => {
  const config = await configAt('http://127.0.0.1:1');

  expect(await exchangeWithItself(config, () => true)).toBe(0);
});
