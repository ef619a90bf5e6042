import { gzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { fetchJson } from '../../src/providers/fetch-json.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { deadUrl, type Host, makeProvider, startHost } from './scripted-host.ts';

const hosts: Host[] = [];
const providers: Provider[] = [];
const limits = { timeoutMs: 10_000, limitBytes: 1_000 };

afterEach(async () => {
  for (const provider of providers.splice(0)) provider.close();
  await Promise.all(hosts.splice(0).map((host) => host.stop()));
});

async function ask(
  answer: Parameters<typeof startHost>[0],
  overrides: Partial<typeof limits> = {},
): Promise<unknown> {
  const host = await startHost(answer);
  hosts.push(host);
  const provider = makeProvider(`${host.url}/v1`, { apiKey: 'sk-key' });
  providers.push(provider);
  return fetchJson(provider, '/v1/models', { ...limits, ...overrides });
}

test('gets a document with the credentials', async () => {
  const document = await ask((request, response) => {
    const { method, url, headers } = request;
    response.end(
      JSON.stringify([method, url, headers.authorization, headers.accept, headers['accept-encoding']]),
    );
  });

  expect(document).toEqual(['GET', '/v1/models', 'Bearer sk-key', 'application/json', 'identity']);
});

test('decodes a compressed one', async () => {
  expect(
    await ask((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{"a":1}')),
    ),
  ).toEqual({ a: 1 });
});

test.each([
  ['an error', (status: number) => ({ status, body: '{}' }), 500],
  ['a redirect', (status: number) => ({ status, body: '' }), 302],
  ['no JSON', (status: number) => ({ status, body: '<html>' }), 200],
  ['too much', (status: number) => ({ status, body: JSON.stringify('x'.repeat(2_000)) }), 200],
] as const)('%s is provider.broken_response', async (_name, make, status) => {
  const { body } = make(status);

  await expect(
    ask((_request, response) => response.writeHead(status, { location: '/' }).end(body)),
  ).rejects.toMatchObject({
    code: 'provider.broken_response',
  });
});

test('no answer in time is provider.timeout', async () => {
  await expect(ask(() => undefined, { timeoutMs: 30 })).rejects.toMatchObject({ code: 'provider.timeout' });
  await expect(
    ask((_request, response) => response.writeHead(200).write('{'), { timeoutMs: 30 }),
  ).rejects.toMatchObject({
    code: 'provider.timeout',
  });
});

test('a closed port is provider.unreachable', async () => {
  const provider = makeProvider(await deadUrl());
  providers.push(provider);

  await expect(fetchJson(provider, '/v1/models', limits)).rejects.toMatchObject({
    code: 'provider.unreachable',
  });
});
