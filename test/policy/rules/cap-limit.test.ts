import { expect, test } from 'vitest';
import { compile, subjectOf } from '../deciding.ts';

const limitOf = (rules: readonly unknown[], body: object = {}) =>
  compile({ house: { rules } })
    .select(['house'])
    .capLimit(subjectOf({ model: 'sandbox-mini', messages: [], ...body }));
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
