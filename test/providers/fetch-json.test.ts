import { expect, onTestFinished, test } from 'vitest';
import { fetchJson } from '../../src/providers/fetch-json.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { type Script, startHost } from '../kit/host.ts';
import { makeProvider } from './make-provider.ts';

const limits = { timeoutMs: 10_000, limitBytes: 1_000 };

function providerAt(url: string): Provider {
  const provider = makeProvider(url, { apiKey: 'sk-key' });
  onTestFinished(() => provider.close());
  return provider;
}

async function ask(answer: Script, overrides: Partial<typeof limits> = {}): Promise<unknown> {
  const { url } = await startHost(answer);
  return fetchJson(providerAt(`${url}/v1`), '/v1/models', { ...limits, ...overrides });
}

test('gets a document with the credentials', async () => {
  const document = await ask((response, { method, target, headers }) => {
    const { authorization, accept, 'accept-encoding': encoding } = Object.fromEntries(headers);
    response.end(JSON.stringify([method, target, authorization, accept, encoding]));
  });

  expect(document).toEqual(['GET', '/v1/models', 'Bearer sk-key', 'application/json', 'identity']);
});

test.each([
  ['an error', 500, '{}'],
  ['a redirect', 302, ''],
  ['no JSON', 200, '<html>'],
  ['too much', 200, JSON.stringify('x'.repeat(2_000))],
])('%s is provider.broken_response', async (_name, status, body) => {
  const asked = ask((response) => response.writeHead(status, { location: '/' }).end(body));

  await expect(asked).rejects.toMatchObject({ code: 'provider.broken_response' });
});

test('no answer in time is provider.timeout', async () => {
  await expect(ask(() => undefined, { timeoutMs: 30 })).rejects.toMatchObject({ code: 'provider.timeout' });
  await expect(
    ask((response) => response.writeHead(200).write('{'), { timeoutMs: 30 }),
  ).rejects.toMatchObject({
    code: 'provider.timeout',
  });
});
