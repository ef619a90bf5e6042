import { describe, expect, test } from 'vitest';
import type { ExchangeRow } from '../../../src/inspector/contract/exchange-list.ts';
import { noFilter, parseFilter, toPredicate, toQuery } from '../../../src/inspector/page/filter.ts';

const row: ExchangeRow = {
  seq: 1,
  id: 'req_1',
  state: 'finished',
  time: '2026-01-01T00:00:00Z',
  method: 'POST',
  path: '/v1/messages',
  project: 'shop',
  model: 'claude-test',
  target_model: 'claude-real',
  status: 200,
  outcome: 'answered',
  decision: 'allow',
  total_ms: 400,
  bytes_in: 1,
  bytes_out: 1,
  bodies: false,
};

test('a filter comes back from the address as it was put there', () => {
  const filter = {
    show: ['blocked', 'failed'],
    project: 'a&b=c',
    model: 'm "x" <b>',
    slower: 500,
    text: '100 % é',
  } as const;

  expect(parseFilter(toQuery(filter))).toEqual(filter);
  expect(toQuery(noFilter)).toBe('');
});

test.each(['?slower=abc', '?slower=-1', '?show=nothing', '?other=1'])('%s narrows nothing', (query) => {
  expect(parseFilter(query)).toEqual(noFilter);
});

describe('a row', () => {
  test.each([
    ['', row, true],
    ['?project=shop', row, true],
    ['?project=sho', row, false],
    ['?model=claude-real', row, true],
    ['?slower=400', row, true],
    ['?slower=401', row, false],
    ['?text=CLAUDE-T', row, true],
    ['?text=nowhere', row, false],
    ['?show=blocked', row, false],
    ['?show=blocked', { ...row, status: 403, decision: 'block' }, true],
    ['?show=failed', { ...row, status: 403, decision: 'block' }, false],
    ['?show=failed', { ...row, status: 529 }, true],
    ['?show=failed', { ...row, status: 0, outcome: 'failed' }, true],
    ['?show=warned', { ...row, decision: 'warn' }, true],
    ['?show=warned', { ...row, would_block: ['no-mail'] }, true],
    ['?show=warned&show=blocked', { ...row, decision: 'block' }, true],
    ['?show=blocked&project=other', { ...row, decision: 'block' }, false],
  ] satisfies [string, ExchangeRow, boolean][])('under %j', (query, one, isShown) => {
    expect(toPredicate(parseFilter(query))(one)).toBe(isShown);
  });
});
