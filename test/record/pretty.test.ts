import { describe, expect, test } from 'vitest';
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

/** The line without its clock, which is in the watcher's own time zone. */
function line(overrides: Partial<ExchangeRecord>): string {
  const whole = prettyLine({ ...record, ...overrides }, (_colour, text) => text);
  expect(whole).toMatch(/^\d\d:\d\d:\d\d .*\n$/s);
  return whole.slice(9, -1);
}

const { provider: _provider, target_model: _target, usage: _usage, first_byte_ms: _first, ...early } = record;
const { endpoint: _endpoint, project: _project, model: _model, stream: _stream, ...unknown } = early;

describe('one line tells', () => {
  test('an answer', () => {
    expect(line({})).toBe('✓ 200 shop chat sandbox-mini→sandbox 12ms first 4 in 12 out 96 req_8f2c');
  });

  test('another name at the provider', () => {
    expect(line({ target_model: 'other' })).toContain('sandbox-mini→sandbox/other');
  });

  test("the provider's own error", () => {
    expect(line({ status: 429, stream: false })).toMatch(/^✗ 429 shop chat/);
  });

  test('a refusal by a rule', () => {
    const blocked = prettyLine(
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
      (_colour, text) => text,
    );

    expect(blocked.slice(9)).toBe(
      '✗ 403 shop chat sandbox-mini 12ms blocked only-sandbox would block watched req_8f2c\n',
    );
  });

  test('placeholders that came back broken', () => {
    expect(line({ broken_placeholders: { EMAIL: 2, HIDDEN: 1 } })).toMatch(
      / broken placeholders EMAIL 2 broken placeholders HIDDEN 1 req_8f2c$/,
    );
  });

  test('a request for nothing', () => {
    const refused = prettyLine(
      { ...unknown, path: '/nowhere', status: 404, outcome: 'refused', reason: 'endpoint.unknown' },
      (_colour, text) => text,
    );

    expect(refused.slice(9)).toBe('✗ 404 - POST /nowhere 12ms endpoint.unknown req_8f2c\n');
  });

  test('a client that left, and a failure with its cause', () => {
    expect(line({ outcome: 'left', reason: 'client.left' })).toMatch(/^– 200 .* the client left req_8f2c$/);
    expect(
      line({ outcome: 'failed', status: 502, reason: 'provider.unreachable', cause: 'ECONNREFUSED: x' }),
    ).toMatch(/^✗ 502 .* provider\.unreachable \(ECONNREFUSED: x\) req_8f2c$/);
  });
});

test('nothing that a client or a provider sends moves the watcher’s terminal', () => {
  const { endpoint: _, ...nameless } = record;
  const whole = prettyLine(
    { ...nameless, path: '/\u009b2J\u001b[2J\r\n\u2028', cause: 'a\u001b]0;x\u0007\nb\u007f' },
    (_colour, text) => text,
  );

  expect(whole.slice(0, -1)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
});
