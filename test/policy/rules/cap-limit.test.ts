import { expect, onTestFinished, test, vi } from 'vitest';
import { noRoute } from '../../../src/policy/routes.ts';
import { Search } from '../../../src/policy/search/search.ts';
import { compile, saying, subjectOf } from '../deciding.ts';

const limitOf = (rules: readonly unknown[], body: object = {}) => {
  const set = compile({ house: { rules } }).select(['house']);
  return set.capLimit(set.inputs(subjectOf({ model: 'sandbox-mini', messages: [], ...body })));
};
const over = (tokens: number, more: object = {}, when: object = {}) => ({
  id: `over-${tokens}`,
  action: 'block',
  when: { max_output_tokens: { over: tokens }, ...when },
  reason: 'limits.max_output_tokens',
  ...more,
});

test('the smallest cap of the rules that apply, in dry run and as a warning too', () => {
  expect(limitOf([])).toBeUndefined();
  expect(limitOf([over(1_000), over(500), over(2_000)])).toBe(500);
  expect(limitOf([over(1_000), over(500, { mode: 'monitor' })])).toBe(500);
  expect(limitOf([over(1_000), over(500, { action: 'warn' })])).toBe(500);
  expect(limitOf([over(0)])).toBe(0);
});

test('a rule whose other conditions do not hold sets no limit', () => {
  expect(limitOf([over(500, {}, { model: ['claude-*'] })])).toBeUndefined();
  expect(limitOf([over(500, {}, { model: ['sandbox-*'] })])).toBe(500);
  expect(limitOf([over(500, { unless: { model: ['sandbox-*'] } })])).toBeUndefined();
  expect(limitOf([over(500, {}, { text: { phrases: ['brief'] } })])).toBeUndefined();
  expect(limitOf([over(500, {}, { text: { phrases: ['brief'] } })], { system: 'be brief' })).toBe(500);
});

const aboutBriefs = over(500, {}, { text: { phrases: ['brief'] } });
const redactBriefs = { id: 'r', action: 'redact', when: { text: { phrases: ['brief'] } } };
const redactNames = { id: 'r', action: 'redact', when: { text: { phrases: ['Erika'] } } };

test.each([
  ['as it came', [aboutBriefs], 1, 500],
  ['with something redacted', [aboutBriefs, redactNames], 2, 500],
  ['with what the rule is about redacted', [aboutBriefs, redactBriefs], 2, undefined],
])('is found without another search of a request that leaves %s', (_name, rules, searches, limit) => {
  const set = compile({ house: { rules } }).select(['house']);
  const subject = subjectOf(saying('a brief note for Erika'));
  const search = vi.spyOn(Search.prototype, 'request');
  onTestFinished(() => search.mockRestore());

  for (const fixed of [noRoute, undefined]) {
    search.mockClear();
    const { decision, inputs } = set.decideRouted(subject, { candidates: [], fixed });

    expect(decision.action).not.toBe('block');
    expect(inputs && set.capLimit(inputs)).toBe(limit);
    expect(search).toHaveBeenCalledTimes(searches);
  }
});
