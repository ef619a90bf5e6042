import { expect, test } from 'vitest';
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

test.each([
  ['openai', 'https://api.openai.com/v1', 'global'],
  ['openai', 'https://eu.api.openai.com/v1', 'regional'],
  ['openai', 'https://us.api.openai.com', 'regional'],
  ['openai', 'https://api.openai.com.example/v1', 'global'],
  ['vertex', 'https://aiplatform.googleapis.com/v1/projects/p/locations/global', 'global'],
  [
    'vertex',
    'https://europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/europe-west4',
    'regional',
  ],
] as const)('prices of %s at %s are %s', async (dialect, baseUrl, scope) => {
  const provider = makeProvider(baseUrl, { dialect });

  expect(provider.priceScope).toBe(scope);
  await provider.close();
});
