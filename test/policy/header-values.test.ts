import { expect, test } from 'vitest';
import { compile, subjectOf } from './deciding.ts';

const secret = 'sk-provider-0123456789abcdef';
const set = compile(
  {
    house: {
      rules: [
        {
          id: 'codename',
          action: 'block',
          when: { text: { phrases: ['nightfall'], in: ['user'] }, model: ['sandbox-*'] },
          reason: 'content.codename',
        },
        { id: 'mails', action: 'redact', when: { text: { detect: ['email'] } }, reason: 'content.email' },
        { id: 'long', action: 'block', when: { bytes: { over: 1 } }, reason: 'too.long' },
      ],
    },
  },
  [secret],
).select(['house']);

const subject = subjectOf({ model: 'sandbox-mini', messages: [] });
const evaluate = (text: string, about = subject) =>
  set
    .evaluateValue({ at: 'header:x-app', text }, about)
    .map(({ rule, action, matches }) => [rule, action, matches[0]?.at]);

test('text rules, and no others, are evaluated on a value, whatever their roles', () => {
  expect(evaluate('cli')).toEqual([]);
  expect(evaluate('Night\u200bfall')).toEqual([['codename', 'block', 'header:x-app']]);
  expect(evaluate('rosa@example.org')).toEqual([['mails', 'redact', 'header:x-app']]);
  expect(evaluate(`key=${secret}`)).toEqual([['gateway-key', 'block', 'header:x-app']]);
});

test('the other conditions of a rule look at the request', () => {
  expect(evaluate('nightfall', { ...subject, model: 'claude', targetModels: [] })).toEqual([]);
  expect(evaluate('nightfall')).toHaveLength(1);
});

test('a value in percent-encoding is read both ways, however often it comes', () => {
  for (const text of ['night%66all', '100% night%66all', '%zz%6e%69%67%68%74fall', 'a%40b.org night%66all']) {
    const blocks = () => evaluate(text).filter(([, action]) => action === 'block');
    expect(blocks()).toEqual([['codename', 'block', 'header:x-app']]);
    expect(set.isKnownClean(text)).toBe(false);
    expect(blocks()).toHaveLength(1);
  }
});

test('percent-encoding and base64 are undone as far as the shortest key and three rounds', () => {
  const percent = (text: string) => [...Buffer.from(text)].map((byte) => `%${byte.toString(16)}`).join('');
  const encoded = Buffer.from('is nightfall').toString('base64');

  expect(encoded.length).toBe(16);
  for (const text of [
    percent(percent('nightfall')),
    percent(percent(percent('nightfall'))),
    encoded,
    percent(encoded),
  ])
    expect(evaluate(text)).toEqual([['codename', 'block', 'header:x-app']]);
});

test('what one reading shows does not hide what the other does', () => {
  expect(evaluate('rosa@example.org night%66all')).toEqual([
    ['codename', 'block', 'header:x-app'],
    ['mails', 'redact', 'header:x-app'],
  ]);
});

test('a value that is a text in base64 is read as that text, too', () => {
  const encoded = Buffer.from('the codename of the launch is nightfall').toString('base64');

  for (const text of [encoded, encoded.replace(/=+$/, ''), encodeURIComponent(`${encoded}=`)]) {
    expect(evaluate(text)).toEqual([['codename', 'block', 'header:x-app']]);
  }
  expect(evaluate('3f2504e0-4f89-41d3-9a0c-0305e82c3301')).toEqual([]);
  expect(evaluate('0af7651916cd43dd8448eb211c80319c0af7651916cd43dd')).toEqual([]);
});

test('a number in another notation is read by its digits, also where it looks like an id', () => {
  const cards = compile({
    house: {
      rules: [{ id: 'cards', action: 'block', when: { text: { detect: ['credit_card'] } } }],
    },
  }).select(['house']);
  const evaluateCard = (text: string) => cards.evaluateValue({ at: 'header:x-app', text }, subject).length;

  expect(evaluateCard('4111111111111111')).toBe(1);
  expect(evaluateCard('4.111111111111111e15')).toBe(1);
  expect(evaluateCard('4.111111111111112e15')).toBe(0);
});
