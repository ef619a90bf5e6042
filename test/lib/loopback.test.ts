import { expect, test } from 'vitest';
import { isLoopbackHost } from '../../src/lib/loopback.ts';

test.each(['localhost', 'LocalHost', '127.0.0.1', '127.255.3.9', '::1', '[::1]'])(
  '%s is this machine',
  (host) => {
    expect(isLoopbackHost(host)).toBe(true);
  },
);

test.each([
  '127.evil.example',
  '127.0.0.1.example.org',
  'localhost.example.org',
  'mylocalhost',
  '10.127.0.1',
  '0.0.0.0',
  '[::2]',
  '127.1',
  '',
])('%s may be elsewhere', (host) => {
  expect(isLoopbackHost(host)).toBe(false);
});
