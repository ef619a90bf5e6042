import { expect, test } from 'vitest';
import { creditCard } from '../../../../src/policy/detectors/finance/credit-card.ts';
import { found } from '../found.ts';

test.each([
  ['4111111111111111'],
  ['4111 1111 1111 1111'],
  ['5555-5555-5555-4444'],
  ['3782 822463 10005'],
  ['3056 930902 5904'],
  ['6011.1111.1111.1117'],
  ['4000 0000 0000 0000 006'],
  ['2223003122003222'],
])('finds %s whole within a sentence', (card) => {
  expect(found(creditCard, `Charge ${card}, please.`)).toEqual([card]);
});

test('finds a card between its expiry date and its code', () => {
  expect(found(creditCard, '4111 1111 1111 1111 1227 123')).toEqual(['4111 1111 1111 1111']);
});

test('finds each of several cards in a row', () => {
  expect(found(creditCard, '4111 1111 1111 1111 5555 5555 5555 4444')).toHaveLength(2);
});

test('finds a card right after a word', () => {
  expect(found(creditCard, 'card4111111111111111')).toEqual(['4111111111111111']);
});

test.each([
  ['a wrong check digit', '4111111111111112'],
  ['an unknown issuer', '9111111111111111'],
  ['seventeen digits', '51111111111111118'],
  ['mixed separators', '4111 1111-1111 1111'],
  ['groups of other sizes', '41 1111 1111 111111'],
  ['the digits of a fraction', '0.4111111111111111'],
  ['the digits of a hash', '9fa4111111111111111e'],
  ['the parts of a UUID', '4f1d4e2a-4111-1111-1111-1111aa000000'],
  ['an identifier', 'id_4111111111111111'],
  ['a masked card', '**** **** **** 1111'],
  ['a device number', 'IMEI 356938035643809'],
  ['a table of code points', '5405 4111 1111 1111 1111 6A7B 5432 5433 5434'],
])('takes %s for no card', (_, text) => {
  expect(found(creditCard, text)).toEqual([]);
});
