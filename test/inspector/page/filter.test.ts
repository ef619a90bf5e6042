import { describe, expect, test } from 'vitest';
import type { ExchangeRow } from '../../../src/inspector/contract/exchange-list.ts';
import { noFilter, parseFilter, toPredicate, toQuery } from '../../../src/inspector/page/filter.ts';
import { row } from '../traced.ts';

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
  test.each<[query: string, fields: Partial<ExchangeRow>, isShown: boolean]>([
    ['', {}, true],
    ['?project=shop', {}, true],
    ['?project=sho', {}, false],
    ['?model=claude-real', {}, true],
    ['?slower=400', {}, true],
    ['?slower=401', {}, false],
    ['?text=CLAUDE-T', {}, true],
    ['?text=nowhere', {}, false],
    ['?text=ses_7', { session: 'ses_7f' }, true],
    ['?show=blocked', {}, false],
    ['?show=blocked', { status: 403, decision: 'block' }, true],
    ['?show=failed', { status: 403, decision: 'block' }, false],
    ['?show=blocked', { status: 429, reason: 'limit.requests' }, true],
    ['?show=redacted', { decision: 'mask' }, true],
    ['?show=failed', { status: 404, outcome: 'refused', method: 'GET' }, false],
    ['?show=failed', { status: 529 }, true],
    ['?show=failed', { status: 0, outcome: 'failed' }, true],
    ['?show=warned', { decision: 'warn' }, true],
    ['?show=warned', { would_block: ['no-mail'] }, true],
    ['?show=warned&show=blocked', { decision: 'block' }, true],
    ['?show=blocked&project=other', { decision: 'block' }, false],
  ])('under %j, being %j: %s', (query, fields, isShown) => {
    expect(toPredicate(parseFilter(query))(row(fields))).toBe(isShown);
  });
});
