import { expect, test } from 'vitest';
import { ibanNumber } from '../../../../src/policy/detectors/finance/iban.ts';
import { found } from '../found.ts';

test.each([
  ['DE89370400440532013000'],
  ['DE89 3704 0044 0532 0130 00'],
  ['gb82 west 1234 5698 7654 32'],
  ['NO93-8601-1117-947'],
  ['MT84MALT011000012345MTLCAST001S'],
])('finds %s, however it is printed', (iban) => {
  expect(found(ibanNumber, `Send it to ${iban}.`)).toEqual([iban]);
});

test('leaves out the word that follows', () => {
  expect(found(ibanNumber, 'DE89 3704 0044 0532 0130 00 for me')).toEqual(['DE89 3704 0044 0532 0130 00']);
});

test.each([
  ['a wrong digit', 'DE89370400440532013001'],
  ['a digit too many', 'DE893704004405320130000'],
  ['a word before it', 'xDE89370400440532013000'],
  ['a country without such numbers', 'US89370400440532013000'],
])('takes a number with %s for nothing', (_, text) => {
  expect(found(ibanNumber, text)).toEqual([]);
});
