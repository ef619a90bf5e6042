import { expect, test } from 'vitest';
import { exactInteger } from '../../src/json/exact-integer.ts';
import { cpuMs } from '../kit/growth.ts';

test.each([
  ['0', 0],
  ['-0', 0],
  ['0.0', 0],
  ['0e99', 0],
  ['1', 1],
  ['-7', -7],
  ['1e3', 1_000],
  ['1E+3', 1_000],
  ['10.0', 10],
  ['1.5e1', 15],
  ['1000e-3', 1],
  ['9007199254740991', 9_007_199_254_740_991],
  [`${'1'}${'0'.repeat(50_000)}e-50000`, 1],
])('%s is %i', (text, expected) => {
  expect(exactInteger(text)).toBe(expected);
});

test.each([
  '1.5',
  '1e-1',
  '0.99999999999999999999',
  '1000.0000000000000000001',
  '9007199254740992',
  '9007199254740993',
  '1e16',
  '1e99999999999999999999',
  '1e-400',
  '',
  'abc',
])('%s is no integer that is sure', (text) => {
  expect(exactInteger(text)).toBeUndefined();
});

test('converting a number of many digits is linear', () => {
  const convert = () => {
    exactInteger(`0.${'0'.repeat(1_000_000)}1`);
    exactInteger(`${'1'.repeat(1_000_000)}`);
  };

  // Half a second; one that is not linear takes hours.
  expect(cpuMs(convert)).toBeLessThan(10_000);
});
