import { expect, test } from 'vitest';
import { hideHeader } from '../../src/inspector/detail/hide.ts';

const same = (text: string) => text;
const shown = (name: string, value: string) => hideHeader(name, value, same).value;
const secret = 'Zx8Qw3Rt6Yu1Io4P';

test.each([
  'authorization',
  'x-api-key',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-goog-iap-jwt-assertion',
  'cf-access-jwt-assertion',
  'x-amz-security-token',
  'x-hub-signature-256',
  'x-session',
  'x-csrf',
  'X-Vault-Passphrase',
  'anthropic-api-key',
  'x-amzn-oidc-data',
])('of %s only the beginning is shown', (name) => {
  expect(hideHeader(name, secret, same)).toEqual({ value: 'Zx8Q…', hidden: true });
  expect(shown(name, 'short')).toBe('…');
});

test.each([
  ['x-internal', `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.${secret}`],
  ['referer', `http://tools.local/run?token=${secret}&page=2`],
  ['x-context', 'hunter2'],
  ['x-tenant', 'the shop in the old town, second floor'],
  ['x-user', 'Maja Lindqvist'],
  ['employee-id', '4711'],
  ['server-note', 'hunter2'],
  ['content-note', 'hunter2'],
])('nothing is shown under a name that is not listed: %s: %s', (name, value) => {
  expect(hideHeader(name, value, same)).toEqual({ value: '…', hidden: true });
});

test.each([
  ['user-agent', 'claude-cli/2.0.14 (external, cli)'],
  ['content-type', 'application/json; charset=utf-8'],
  ['anthropic-beta', 'fine-grained-tool-streaming-2025-05-14'],
  ['anthropic-ratelimit-tokens-remaining', '199000'],
  ['x-ratelimit-reset-tokens', '6m0s'],
  ['x-request-id', 'req_31c79e1a41363f4d53326d97e06bb6'],
  ['traceparent', '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
  ['x-stainless-runtime-version', 'v20.20.2'],
  ['x-amzn-requestid', '0f3c'],
  ['request-id', 'req_1'],
  ['server', 'uvicorn'],
])('under a listed name the value is shown: %s: %s', (name, value) => {
  expect(hideHeader(name, value, same)).toEqual({ value, hidden: false });
});

test('a configured secret is hidden under every name', () => {
  const scrub = (text: string) => text.replaceAll(secret, '***');

  expect(hideHeader('user-agent', `tool/${secret}`, scrub)).toEqual({ value: 'tool…', hidden: true });
});
