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

const percent = (text: string) => [...Buffer.from(text)].map((byte) => `%${byte.toString(16)}`).join('');
const base64 = (text: string) => Buffer.from(text).toString('base64');
const encoded = base64('the codename of the launch is nightfall');

test.each([
  ['percents', 'night%66all'],
  ['percents that are not all right', '100% night%66all'],
  ['percents, more of them wrong', '%zz%6e%69%67%68%74fall'],
  ['percents two times', percent(percent('nightfall'))],
  ['percents three times', percent(percent(percent('nightfall')))],
  ['base64 as short as the shortest key', base64('is nightfall')],
  ['base64 in percents', percent(base64('is nightfall'))],
  ['base64', encoded],
  ['base64 without its end', encoded.replace(/=+$/, '')],
  ['base64 with too much at its end', encodeURIComponent(`${encoded}=`)],
])('%s are undone, however often the value comes', (_how, text) => {
  for (const _time of [1, 2]) {
    expect(evaluate(text)).toEqual([['codename', 'block', 'header:x-app']]);
    expect(set.isKnownClean(text)).toBe(false);
  }
});

test('an identifier is not taken for encoded text', () => {
  expect(evaluate('3f2504e0-4f89-41d3-9a0c-0305e82c3301')).toEqual([]);
  expect(evaluate('0af7651916cd43dd8448eb211c80319c0af7651916cd43dd')).toEqual([]);
});

test('what one reading shows does not hide what the other does', () => {
  expect(evaluate('rosa@example.org night%66all')).toEqual([
    ['codename', 'block', 'header:x-app'],
    ['mails', 'redact', 'header:x-app'],
  ]);
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

test('a service is not asked about a value, and a rule that asks one finds nothing in it', () => {
  const asking = compile({
    house: {
      rules: [
        { id: 'words', action: 'warn', when: { text: { phrases: ['nightfall'] } } },
        { id: 'people', action: 'block', mode: 'monitor', when: { check: { url: 'http://127.0.0.1:9' } } },
      ],
    },
  }).select(['house']);
  const text = '{"a":"nightfall","b":"M\\u00fcller"}';

  expect(asking.evaluateValue({ at: 'header:x-app', text }, subject)).toMatchObject([{ rule: 'words' }]);
});
