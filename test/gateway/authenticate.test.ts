import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../src/errors.ts';
import { authenticate } from '../../src/gateway/authenticate.ts';

const run = 'good~run-5b2ce1f0a97d~usd-5';
const keys = {
  find: (presented: string) =>
    new Map([
      ['good', { id: 'k1', project: 'shop' }],
      [run, { id: 'k1', project: 'shop' }],
      ['old', { id: 'k2', project: 'shop', expiresMs: 1_000 }],
    ]).get(presented),
};

const gateway = { keys, takesLogins: false };

/** The key's id, or the code of the refusal. */
function ask(...rawHeaders: string[]): string {
  try {
    return authenticate({ request: { rawHeaders }, startedMs: 1_000 }, gateway).key.id;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return error.code;
  }
}

describe('a key is found', () => {
  test.each([
    [['Authorization', 'Bearer good']],
    [['authorization', 'bearer good']],
    [['AUTHORIZATION', 'BEARER   good  ']],
    [['x-gateway-key', 'good']],
    [['X-Gateway-Key', ' good ']],
    [['X-Api-Key', 'good']],
    [['Authorization', 'Bearer good', 'x-api-key', 'good', 'X-Gateway-Key', 'good']],
    [['x-api-key', 'good', 'X-API-KEY', 'good']],
    [['Cookie', 'x-api-key=bad', 'x-api-key', 'good']],
  ])('%j', (rawHeaders) => {
    expect(ask(...rawHeaders)).toBe('k1');
  });
});

test.each([
  [['x-api-key', run]],
  [['x-api-key', run, 'authorization', 'Bearer good']],
  [['x-api-key', 'good', 'authorization', `Bearer ${run}`]],
])('%j belongs to the run', (rawHeaders) => {
  expect(authenticate({ request: { rawHeaders }, startedMs: 1_000 }, gateway).runs).toEqual([
    { id: 'run-5b2ce1f0a97d', budget: 5 },
  ]);
});

describe('a request is refused', () => {
  test.each([
    ['key.missing', []],
    ['key.missing', ['Cookie', 'good']],
    ['key.missing', ['x-api-key', '']],
    ['key.missing', ['x-api-key', '  ']],
    ['key.missing', ['Authorization', 'Bearer']],
    ['key.missing', ['Authorization', 'Bearer ']],
    ['key.missing', ['Authorization', 'good']],
    ['key.missing', ['Authorization', 'Basic Z29vZA==']],
    ['key.missing', ['Authorization', 'Basic good', 'x-api-key', 'good']],
    ['key.missing', ['Proxy-Authorization', 'Bearer good']],
    ['key.invalid', ['x-api-key', 'bad']],
    ['key.invalid', ['x-api-key', 'GOOD']],
    ['key.invalid', ['x-api-key', 'good,good']],
    ['key.invalid', ['x-api-key', 'Bearer good']],
    ['key.invalid', ['Authorization', 'Bearer Bearer good']],
    ['key.invalid', ['x-api-key', 'constructor']],
    ['key.expired', ['x-api-key', 'old']],
    ['key.conflict', ['x-api-key', 'good', 'x-gateway-key', 'bad']],
    ['key.conflict', ['Authorization', 'Bearer good', 'x-api-key', 'old']],
    ['key.conflict', ['x-api-key', 'good', 'X-Api-Key', 'bad']],
    ['key.conflict', ['x-api-key', 'bad', 'x-api-key', 'good']],
    ['key.conflict', ['Authorization', 'Bearer good', 'authorization', 'Bearer bad']],
    ['key.conflict', ['x-api-key', run, 'x-gateway-key', 'good~run-5b2ce1f0a97d~usd-6']],
    ['key.conflict', ['x-api-key', '', 'Authorization', 'Bearer good']],
  ])('%s: %j', (code, rawHeaders) => {
    expect(ask(...rawHeaders)).toBe(code);
  });
});

test('a key is good until the millisecond it expires', () => {
  const request = { rawHeaders: ['x-api-key', 'old'] };

  expect(authenticate({ request, startedMs: 999 }, gateway).key.id).toBe('k2');
  expect(() => authenticate({ request, startedMs: 1_000 }, gateway)).toThrow('expired');
});
