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
const judge = (text: string, about = subject) =>
  set
    .judgeValue({ at: 'header:x-app', text }, about)
    .map(({ rule, action, matches }) => [rule, action, matches[0]?.at]);

test('a value is judged by the rules on texts, as of every role, and by no others', () => {
  expect(judge('cli')).toEqual([]);
  expect(judge('Night\u200bfall')).toEqual([['codename', 'block', 'header:x-app']]);
  expect(judge('rosa@example.org')).toEqual([['mails', 'redact', 'header:x-app']]);
  expect(judge(`key=${secret}`)).toEqual([['gateway-key', 'block', 'header:x-app']]);
});

test('the other conditions of a rule look at the request', () => {
  expect(judge('nightfall', { ...subject, model: 'claude', targetModels: [] })).toEqual([]);
  expect(judge('nightfall')).toHaveLength(1);
});

test('a value in percent-encoding is read both ways, however often it comes', () => {
  for (const text of ['night%66all', '100% night%66all', '%zz%6e%69%67%68%74fall', 'a%40b.org night%66all']) {
    const blocks = () => judge(text).filter(([, action]) => action === 'block');
    expect(blocks()).toEqual([['codename', 'block', 'header:x-app']]);
    expect(set.isKnownClean(text)).toBe(false);
    expect(blocks()).toHaveLength(1);
  }
});

test('what one reading shows does not hide what the other does', () => {
  expect(judge('rosa@example.org night%66all')).toEqual([
    ['codename', 'block', 'header:x-app'],
    ['mails', 'redact', 'header:x-app'],
  ]);
});
