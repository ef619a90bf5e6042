import { afterEach, expect, test, vi } from 'vitest';
import { createAuthorizer } from '../../../src/providers/credentials/registry.ts';

afterEach(() => vi.unstubAllEnvs());

test('requests that come before a cloud is loaded wait for one fetch of its credentials', async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'example');
  const url = new URL('https://bedrock-runtime.eu-west-1.amazonaws.com');
  const authorizer = createAuthorizer('aws', { name: 'cloud', url, region: 'eu-west-1' });
  const request = { method: 'POST' as const, path: '/model/m/invoke', headers: [], body: Buffer.from('{}') };

  const [first, second] = await Promise.allSettled([1, 2].map(async () => authorizer.authorize(request)));

  // Without AWS' package, both get the same error.
  const shared = [first, second].map((each) =>
    each?.status === 'fulfilled' ? each.value.secrets : each?.reason,
  );
  expect(shared[0]).toBeDefined();
  expect(shared[0]).toBe(shared[1]);
});
