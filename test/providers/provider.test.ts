import { expect, test } from 'vitest';
import type { ModelEntry } from '../../src/config/build/models.ts';
import { reportsStreamUsage } from '../../src/providers/host.ts';
import { createRouter } from '../../src/providers/route.ts';
import { makeProvider } from './make-provider.ts';

test.each([
  ['openai', 'http://host.example/v1', '/v1/chat/completions', '/v1/chat/completions'],
  ['openai', 'http://host.example/v1/', '/v1/chat/completions', '/v1/chat/completions'],
  ['openai', 'http://host.example', '/v1/chat/completions', '/chat/completions'],
  ['openai', 'http://host.example/api/openai/v2', '/v1/embeddings', '/api/openai/v2/embeddings'],
  ['anthropic', 'http://host.example', '/v1/messages', '/v1/messages'],
  ['anthropic', 'http://host.example/v1', '/v1/messages/count_tokens', '/v1/messages/count_tokens'],
  ['anthropic', 'http://host.example/anthropic', '/v1/messages', '/anthropic/v1/messages'],
  ['sandbox', 'http://127.0.0.1:1', '/v1/responses', '/v1/responses'],
] as const)('%s at %s has %s at %s', async (dialect, baseUrl, path, expected) => {
  const provider = makeProvider(baseUrl, { dialect });

  expect(provider.pathFor({ path, model: 'any', stream: false })).toBe(expected);
  await provider.close();
});

test.each([
  ['openai', ['authorization', 'Bearer sk-1']],
  ['anthropic', ['x-api-key', 'sk-1']],
] as const)('%s gets its key as it wants it', async (dialect, headers) => {
  const provider = makeProvider('http://host.example', { dialect, apiKey: 'sk-1' });
  const keyless = makeProvider('http://host.example', { dialect });

  expect(provider.ownHeaders).toEqual(headers);
  expect(keyless.ownHeaders).toEqual([]);
  await Promise.all([provider.close(), keyless.close()]);
});

test.each(['api.openai.com', 'me.openai.azure.com', 'localhost', '127.0.0.1', '[::1]', 'openrouter.ai'])(
  '%s is asked for the usage of a stream',
  (hostname) => {
    expect(reportsStreamUsage(hostname)).toBe(true);
  },
);

test.each(['models.example.com', 'api.openai.com.example.com', '127.0.0.1.example.com', 'xopenrouter.ai'])(
  '%s may not know the field',
  (hostname) => {
    expect(reportsStreamUsage(hostname)).toBe(false);
  },
);

const one = makeProvider('http://one.example');
const providers = new Map([['one', one]]);

function entry(targets: ModelEntry['targets']): ModelEntry {
  return { match: 'm*', isPattern: true, targets } as ModelEntry; // the router reads the targets alone
}

test('returns the targets in order, with the name at each provider, without those that have no provider', () => {
  const found = entry([{ provider: 'gone' }, { provider: 'one', model: 'other' }, { provider: 'one' }]);
  const router = createRouter((name) => (name.startsWith('m') ? found : undefined), providers);

  expect(router.resolve('m1')).toEqual({
    entry: found,
    targets: [
      { provider: one, model: 'other' },
      { provider: one, model: 'm1' },
    ],
  });
  expect(router.resolve('x')).toBeUndefined();
});

test('remembers names, found or not, but not without end', () => {
  let lookups = 0;
  const router = createRouter((name) => {
    lookups += 1;
    return name === 'm' ? entry([{ provider: 'one' }]) : undefined;
  }, providers);

  for (let i = 0; i < 3; i += 1) for (const name of ['m', 'x']) router.resolve(name);
  expect(lookups).toBe(2);

  for (let i = 0; i < 3_000; i += 1) router.resolve(`x${i}`);
  expect(router.resolve('m')?.targets).toHaveLength(1);
  expect(lookups).toBe(3_003);
});
