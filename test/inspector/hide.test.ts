import { expect, test } from 'vitest';
import { toExcerpt } from '../../src/inspector/detail/excerpt.ts';
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

const marked = (text: string, ...ranges: { start: number; end: number }[]) => {
  const { excerpt = '', excerpt_ranges: all = [] } = toExcerpt(text, ranges);
  return all.reduceRight(
    (shown, { start, end }) => `${shown.slice(0, start)}[${shown.slice(start, end)}]${shown.slice(end)}`,
    excerpt,
  );
};

test('a short text is shown whole, with the match', () => {
  expect(marked('write to jo@example.org, please', { start: 9, end: 23 })).toBe(
    'w•••• t• [j•@e••••••.o••], p•••••',
  );
});

test('every match that is in it is marked', () => {
  const text = `heron, a heron, and ${'one more '.repeat(20)}heron`;
  const ranges = [
    { start: 0, end: 5 },
    { start: 9, end: 14 },
    { start: 200, end: 205 },
  ];

  expect(marked(text, ...ranges)).toMatch(/^\[h••••\], a \[h••••\], a•• [^[]*…$/);
});

test('of a long text the match and what is around it is shown', () => {
  const text = `${'word '.repeat(100)}blue heron${' more'.repeat(100)}`;

  const shown = marked(text, { start: 500, end: 510 });

  expect(shown).toMatch(/^…(?:w••• ){8}\[b••• h••••\](?: m•••)+/);
  expect(shown).toMatch(/…$/);
  expect(shown.length).toBeLessThan(170);
});

test('a word that is cut shows no letter of its middle', () => {
  const text = `${'a'.repeat(400)}@example.org`;

  expect(toExcerpt(text, [{ start: 300, end: 412 }]).excerpt).toMatch(/^…•+@e••••••\.o••$|^…•+…$/);
});

test('characters of two units are never cut, and offsets stay right', () => {
  const text = `${'😀𝒳'.repeat(100)} here ${'𝒳😀'.repeat(100)}`;
  for (let start = 390; start < 410; start += 1) {
    const { excerpt = '' } = toExcerpt(text, [{ start, end: start + 4 }]);
    expect(excerpt).not.toMatch(/\p{Surrogate}/u);
  }
  expect(marked(text, { start: 401, end: 405 })).toContain('[h•••]');
});

test.each([undefined, { start: 5, end: 99 }, { start: 3, end: 3 }])(
  'a range of %j marks nothing',
  (range) => {
    expect(marked('some text', ...(range === undefined ? [] : [range]))).toBe('s••• t•••');
  },
);
