import { expect, test } from 'vitest';
import { prettyLine } from '../../src/record/pretty.ts';
import type { ExchangeRecord } from '../../src/record/record.ts';
import { answered } from './answered.ts';

const plain = (record: ExchangeRecord) => prettyLine(record, (_colour, text) => text);

const {
  provider: _provider,
  target_model: _target,
  usage: _usage,
  first_byte_ms: _first,
  ...early
} = answered;
const { endpoint: _endpoint, project: _project, model: _model, stream: _stream, ...unknown } = early;

const whole = 'shop messages fast→anthropic/claude-haiku-4-5 1200ms';

test.each<[string, ExchangeRecord, string]>([
  ['an answer', answered, `✓ 200 ${whole} first 200 in 100 out 11 req_1`],
  [
    'the same name at the provider',
    { ...answered, target_model: 'fast' },
    '✓ 200 shop messages fast→anthropic 1200ms first 200 in 100 out 11 req_1',
  ],
  [
    "the provider's own error",
    { ...answered, status: 429, stream: false },
    `✗ 429 ${whole} in 100 out 11 req_1`,
  ],
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
    '✗ 403 shop messages fast 1200ms blocked only-sandbox would block watched req_1',
  ],
  [
    'placeholders that came back broken',
    { ...answered, stream: false, broken_placeholders: { EMAIL: 2, HIDDEN: 1 } },
    `✓ 200 ${whole} in 100 out 11 broken placeholders EMAIL 2 broken placeholders HIDDEN 1 req_1`,
  ],
  [
    'a request for nothing',
    { ...unknown, path: '/nowhere', status: 404, outcome: 'refused', reason: 'endpoint.unknown' },
    '✗ 404 - POST /nowhere 1200ms endpoint.unknown req_1',
  ],
  [
    'a client that left',
    { ...answered, outcome: 'left', reason: 'client.left' },
    `– 200 ${whole} in 100 out 11 the client left req_1`,
  ],
  [
    'a failure with its cause',
    { ...answered, outcome: 'failed', status: 502, reason: 'provider.unreachable', cause: 'ECONNREFUSED: x' },
    `✗ 502 ${whole} in 100 out 11 provider.unreachable (ECONNREFUSED: x) req_1`,
  ],
])('one line tells %s', (_what, record, expected) => {
  // Without its clock, which is in the watcher's own time zone.
  expect(plain(record)).toMatch(/^\d\d:\d\d:\d\d /);
  expect(plain(record).slice(9)).toBe(`${expected}\n`);
});

test('nothing that a client or a provider sends moves the watcher’s terminal', () => {
  const { endpoint: _, ...nameless } = answered;
  const path = '/\u009b2J\u001b[2J\r\n\u2028';
  const whole = plain({ ...nameless, path, cause: 'a\u001b]0;x\u0007\nb\u007f' });

  expect(whole.slice(0, -1)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
});
