import { expect, test } from 'vitest';
import { prettyLine } from '../../src/record/pretty.ts';
import type { ExchangeRecord } from '../../src/record/record.ts';

const record: ExchangeRecord = {
  time: '2026-01-01T12:01:07.000Z',
  request_id: 'req_8f2c',
  method: 'POST',
  path: '/v1/chat/completions',
  endpoint: 'chat',
  project: 'shop',
  model: 'sandbox-mini',
  provider: 'sandbox',
  target_model: 'sandbox-mini',
  stream: true,
  status: 200,
  outcome: 'answered',
  bytes_in: 100,
  bytes_out: 200,
  usage: {
    input_tokens: 12,
    output_tokens: 96,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    reasoning_tokens: 0,
  },
  first_byte_ms: 4.2,
  total_ms: 12.4,
  config: 'abc',
};

const plain = (whole: ExchangeRecord) => prettyLine(whole, (_colour, text) => text);

const { provider: _provider, target_model: _target, usage: _usage, first_byte_ms: _first, ...early } = record;
const { endpoint: _endpoint, project: _project, model: _model, stream: _stream, ...unknown } = early;

const answer = 'shop chat sandbox-mini→sandbox 12ms in 12 out 96';

test.each<[string, ExchangeRecord, string]>([
  ['an answer', record, '✓ 200 shop chat sandbox-mini→sandbox 12ms first 4 in 12 out 96 req_8f2c'],
  [
    'another name at the provider',
    { ...record, target_model: 'other' },
    '✓ 200 shop chat sandbox-mini→sandbox/other 12ms first 4 in 12 out 96 req_8f2c',
  ],
  ["the provider's own error", { ...record, status: 429, stream: false }, `✗ 429 ${answer} req_8f2c`],
  [
    'a refusal by a rule',
    {
      ...early,
      status: 403,
      outcome: 'refused',
      reason: 'model.not_allowed',
      decision: 'block',
      rules: [
        { id: 'watched', action: 'block', mode: 'monitor', count: 1 },
        { id: 'only-sandbox', action: 'block', mode: 'enforce', count: 1 },
      ],
      would_block: ['watched'],
    },
    '✗ 403 shop chat sandbox-mini 12ms blocked only-sandbox would block watched req_8f2c',
  ],
  [
    'placeholders that came back broken',
    { ...record, stream: false, broken_placeholders: { EMAIL: 2, HIDDEN: 1 } },
    `✓ 200 ${answer} broken placeholders EMAIL 2 broken placeholders HIDDEN 1 req_8f2c`,
  ],
  [
    'a request for nothing',
    { ...unknown, path: '/nowhere', status: 404, outcome: 'refused', reason: 'endpoint.unknown' },
    '✗ 404 - POST /nowhere 12ms endpoint.unknown req_8f2c',
  ],
  [
    'a client that left',
    { ...record, outcome: 'left', reason: 'client.left' },
    `– 200 ${answer} the client left req_8f2c`,
  ],
  [
    'a failure with its cause',
    { ...record, outcome: 'failed', status: 502, reason: 'provider.unreachable', cause: 'ECONNREFUSED: x' },
    `✗ 502 ${answer} provider.unreachable (ECONNREFUSED: x) req_8f2c`,
  ],
])('one line tells %s', (_what, whole, expected) => {
  // Without its clock, which is in the watcher's own time zone.
  expect(plain(whole)).toMatch(/^\d\d:\d\d:\d\d /);
  expect(plain(whole).slice(9)).toBe(`${expected}\n`);
});

test('nothing that a client or a provider sends moves the watcher’s terminal', () => {
  const { endpoint: _, ...nameless } = record;
  const path = '/\u009b2J\u001b[2J\r\n\u2028';
  const whole = plain({ ...nameless, path, cause: 'a\u001b]0;x\u0007\nb\u007f' });

  expect(whole.slice(0, -1)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
});
