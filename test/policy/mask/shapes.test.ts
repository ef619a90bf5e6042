import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { creditCard } from '../../../src/policy/detectors/finance/credit-card.ts';
import { ibanNumber } from '../../../src/policy/detectors/finance/iban.ts';
import { detectorNames } from '../../../src/policy/detectors/names.ts';
import { digitsOf, hasLuhnDigit } from '../../../src/policy/detectors/text/checksums.ts';
import { type Form, formShapes, shapeOf } from '../../../src/policy/mask/forms.ts';
import { noValues, pairsOf } from '../../../src/policy/mask/masked-values.ts';
import { Placeholders } from '../../../src/policy/mask/placeholders.ts';
import { Restorer } from '../../../src/policy/mask/restorer.ts';
import { maskSecret, policyOf, saying } from '../deciding.ts';

const detect = ['email', 'credit_card', 'iban', 'phone', { secrets: 'possible' }];
const decide = policyOf({ id: 'shaped', action: 'mask', when: { text: { detect } }, placeholder: 'shape' });
const sent = (decision: ReturnType<typeof decide>) => decision.redacted?.bytes.toString() ?? '';

/** What a value of each kind becomes. */
function maskOf(value: string): string {
  const found = [...pairsOf(decide(saying(`${value}\n`)).masked ?? noValues)].find(
    (pair) => pair[1] === value,
  );
  return found?.[0] ?? `${value} was not masked`;
}

test('an address becomes one at a domain that nobody can have', () => {
  const address = maskOf('ann@customers.example');

  expect(address).toMatch(/^EMAIL-[A-Z]{13}@masked\.invalid$/);
  expect(z.email().parse(address)).toBe(address);
});

test.each([
  ['4111 1111 1111 1111', 16],
  ['378282246310005', 15],
  ['36227206271667', 14],
  ['6304 0000 0000', 16],
])('a card becomes a number with a check digit that no network issues: %s', (card, length) => {
  const masked = maskOf(card);

  expect(masked).toMatch(new RegExp(`^99${length - 10}[0-9]{${length - 3}}$`));
  expect(hasLuhnDigit(digitsOf(masked))).toBe(true);
  expect(creditCard.find(masked)).toEqual([]);
});

test('an IBAN becomes one of no country, with check digits', () => {
  const masked = maskOf('DE89 3704 0044 0532 0130 00');

  expect(masked).toMatch(/^XX50[0-9]{18}$/);
  expect(BigInt(`${masked.slice(4)}333350`) % 97n).toBe(1n);
  expect(ibanNumber.find(masked)).toEqual([]);
});

test('a telephone number becomes one of no country', () => {
  expect(maskOf('+41 44 668 18 00')).toMatch(/^\+999[0-9]{12}$/);
});

test('other kinds stay words', () => {
  expect(sent(decide(saying('DB_PASSWORD=gT7kQ2vLp9xR4m')))).toMatch(/DB_PASSWORD=HIDDEN_[A-Z]{13}"/);
});

const text =
  'ann@customers.example paid with 4111 1111 1111 1111 to DE89 3704 0044 0532 0130 00, +41 44 668 18 00';

test('no rule finds anything in what became of them', () => {
  const all = policyOf(
    { id: 'shaped', action: 'mask', when: { text: { detect } }, placeholder: 'shape' },
    { id: 'all', action: 'block', when: { text: { detect: detectorNames } } },
    { id: 'digits', action: 'block', when: { text: { regex: ['[0-9]{12,}', '@'] } } },
  );
  const masked = JSON.parse(sent(decide(saying(text))));

  expect(decide(masked).action).toBe('allow');
  expect(all(masked)).toMatchObject({ action: 'allow', verdicts: [] });
});

test('two values whose hashes are the same have different placeholders', () => {
  const [first, second] = twins();

  const { masked = noValues } = decide(saying(`${first}, ${second}, ${first}`));

  expect(maskOf(first)).toBe(maskOf(second));
  const [[one] = [''], [other] = ['']] = pairsOf(masked);
  expect([one, masked.size]).toEqual([maskOf(first), 2]);
  expect(new Restorer(masked).text(`${other} ${one} ${other}`)).toBe(`${second} ${first} ${second}`);
});

/** Two cards with the same placeholder; of this length there are ten million. */
function twins(): readonly [string, string] {
  const placeholders = new Placeholders(maskSecret, formShapes);
  const known = new Map<string, string>();
  for (let number = 0; number < 100_000; number += 1) {
    const card = withCheckDigit(`36${String(number).padStart(11, '0')}`);
    const form = shapeOf('CARD', card) as Form;
    const other = known.get(placeholders.of(form, card));
    if (other !== undefined) return [other, card];
    known.set(placeholders.of(form, card), card);
  }
  throw new Error('no two have the same');
}

function withCheckDigit(digits: string): string {
  return digits + [...'0123456789'].find((each) => hasLuhnDigit(digitsOf(digits + each)));
}

describe('what a model makes of one', () => {
  test.each([
    ['an address without its domain', 'ann@customers.example', (masked: string) => masked.replace(/@.*/, '')],
    ['an address in lower case', 'ann@customers.example', (masked: string) => masked.toLowerCase()],
    ['a card in groups', '4111 1111 1111 1111', (masked: string) => masked.replace(/\d{4}(?=\d)/g, '$& ')],
    ['a number without its sign', '+41 44 668 18 00', (masked: string) => masked.replace('+', '00')],
  ])('is counted and left: %s', (_what, value, change) => {
    const { masked = noValues } = decide(saying(value));
    const [[placeholder] = ['']] = pairsOf(masked);
    const restorer = new Restorer(masked);

    expect(restorer.text(`use ${change(placeholder)}.`)).toBe(`use ${change(placeholder)}.`);
    expect(Object.values(restorer.counts.broken_placeholders ?? {})).toEqual([1]);
    expect(restorer.text(`${placeholder}, ${placeholder}.`)).toBe(`${value}, ${value}.`);
    expect(Object.values(restorer.counts.broken_placeholders ?? {})).toEqual([1]);
  });
});
