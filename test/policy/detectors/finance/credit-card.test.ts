import { expect, test } from 'vitest';
import { creditCard } from '../../../../src/policy/detectors/finance/credit-card.ts';
import { found } from '../found.ts';
import { withCheckDigit } from '../labelled-set/credit-card.ts';

test.each(['/', '_', ',', '|', '*', ':', '·'])('finds a card in groups with %s between them', (sign) => {
  const card = ['4111', '1111', '1111', '1111'].join(sign);

  expect(found(creditCard, `pay ${card} now`)).toEqual([card]);
  expect(found(creditCard, `${card}${sign}1234`)).toEqual([]);
  expect(found(creditCard, `1234${sign}${card}`)).toEqual([]);
});

test.each([...' -./_,|*:·'])(
  'finds a card digit by digit with "%s" between them, wherever it begins',
  (sign) => {
    for (const number of ['4111111111111111', '378282246310005', '30569309025904', '4000000000000000006']) {
      const card = [...number].join(sign);

      for (const before of ['', 'a ', 'ab ', 'abc ', 'abcd ']) {
        expect(found(creditCard, `${before}${card} now`)).toEqual([card]);
      }
      expect(found(creditCard, `7${sign}${card}`)).toEqual([]);
      expect(found(creditCard, `${card}${sign}7`)).toEqual([]);
    }
  },
);

/** A card of this length, so that no number has to be known by heart. */
const cardOf = (prefix: string, length: number) => withCheckDigit(prefix.padEnd(length - 1, '0123456789'));

function inGroups(card: string, sizes: readonly number[]): string {
  const groups: string[] = [];
  for (const size of sizes) {
    const start = groups.join('').length;
    groups.push(card.slice(start, start + size));
  }
  return groups.join(' ');
}

test.each([
  ['Mir', '2201', [16, 19]],
  ['Maestro', '6761', [16, 19]],
  ['Maestro', '5893', [16, 19]],
  ['Dankort', '5019', [16]],
  ['Elo', '506699', [16]],
  ['Elo', '636368', [16]],
  ['Verve', '506099', [16, 18, 19]],
  ['RuPay', '508500', [16]],
  ['RuPay', '817200', [16]],
  ['Hipercard', '606282', [16, 19]],
  ['UnionPay', '6229', [16, 19]],
  ['Troy', '9792', [16]],
  ['Diners Club', '3095', [14]],
])('finds cards of %s that begin with %s, in one piece', (_, prefix, lengths) => {
  const cards = lengths.map((length) => cardOf(prefix, length));

  expect(cards.map((card) => found(creditCard, `card ${card}.`))).toEqual(cards.map((card) => [card]));
});

test.each([
  ['UATP', '1220', [4, 5, 6]],
  ['Maestro', '6762', [4, 4, 4]],
  ['Maestro', '5018', [4, 4, 5]],
  ['Maestro', '6304', [4, 6, 5]],
  ['UnionPay', '6229', [6, 13]],
  ['UnionPay', '6212', [4, 4, 4, 4, 2]],
])('finds cards of %s that begin with %s in groups of %j', (_, prefix, sizes) => {
  const card = cardOf(
    prefix,
    sizes.reduce((sum, size) => sum + size, 0),
  );

  expect(found(creditCard, `card ${inGroups(card, sizes)}.`)).toEqual([inGroups(card, sizes)]);
});

test.each([
  ['a bar code', '5018', 13],
  ['twelve digits', '6762', 12],
  ['a time in microseconds', '1795', 15],
  ['an identity number', '6212', 18],
  ['a length that the issuer has not', '9792', 18],
])('%s in one piece is no card', (_, prefix, length) => {
  expect(found(creditCard, `value ${cardOf(prefix, length)}.`)).toEqual([]);
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
  ['an unknown issuer', '9111111111111111'],
  ['a table of code points', '5405 4111 1111 1111 1111 6A7B 5432 5433 5434'],
])('takes %s for no card', (_, text) => {
  expect(found(creditCard, text)).toEqual([]);
});
