import { expect, test } from 'vitest';
import { cpuMs } from '../../kit/growth.ts';
import { decider, policyOf } from '../deciding.ts';

const rule = (id: string, more: object = {}) => ({
  id,
  action: 'block',
  when: { text: { phrases: ['nightfall'] } },
  ...more,
});
const numbers = { model: 'm', input: [1, 2, 3] };

test('numbers in place of text are refused although a monitored rule comes first', () => {
  const decide = policyOf(rule('tried', { mode: 'monitor' }), rule('meant'));

  const decision = decide(numbers, { endpoint: 'embeddings' });

  expect(decision.refusal).toMatchObject({ rule: 'meant', reason: 'content.unreadable' });
  expect(decision.wouldBlock).toEqual(['tried']);
  expect(policyOf(rule('told', { action: 'warn' }))(numbers, { endpoint: 'embeddings' }).action).toBe(
    'allow',
  );
});

test('numbers are refused although those of another role stand before them', () => {
  const decide = policyOf(rule('users', { when: { text: { phrases: ['nightfall'], in: ['user'] } } }));
  const turn = (role: string) => ({ role, content: [1, 2] });

  const decision = decide({ messages: [turn('assistant'), turn('user')] }, { endpoint: 'chat' });

  expect(decision.refusal).toMatchObject({ reason: 'content.unreadable', at: '/messages/1/content/0' });
  expect(decide({ messages: [turn('assistant')] }, { endpoint: 'chat' }).action).toBe('allow');
});

test('numbers in places of data are data', () => {
  const body = {
    messages: [
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'a', name: 'b', input: { text: [1, 2], content: [3] } }],
      },
    ],
    tools: [{ name: 'b', input_schema: { properties: { a: { enum: [1, 2, 3] } } } }],
    logprobs: [[1, 2]],
  };

  expect(decider({ rules: [rule('meant')] })(body)).toMatchObject({ action: 'allow', verdicts: [] });
});

const card = '4111111111111111';
const noCard = '4111111111111112';
const findCards = policyOf({
  id: 'cards',
  action: 'block',
  when: { text: { detect: ['credit_card'] } },
});

/** A whole number in every other notation that JSON has for it. */
function notations(digits: string): string[] {
  const forms = [`${digits}.0`, `${digits}.000`, `${digits}e0`, `${digits}E+0`, `${digits}00e-2`];
  for (let shift = 1; shift < digits.length; shift += 1) {
    const head = digits.slice(0, -shift);
    const tail = digits.slice(-shift);
    forms.push(`${head}.${tail}e${shift}`, `${head}.${tail}0E+0${shift}`, `-${head}.${tail}e${shift}`);
  }
  return [...forms, `0.${digits}e${digits.length}`, `0.00${digits}e${digits.length + 2}`];
}

/** Texts in which a number is one of JSON. */
const texts: Readonly<Record<string, (number: string) => string>> = {
  'by itself': (number) => number,
  'in lists with blanks': (number) => `[1, [true, null], [ ${number} ]]`,
  'in an object': (number) => `{"n":${number}}`,
  'in lines of JSON': (number) => `{"n":1}\n{"n":${number}}`,
  'in an object with a comma too many': (number) => `{"n":${number},}`,
  'in a key twice': (number) => `{"n":${number},"n":1}`,
  'in JSON in JSON': (number) => JSON.stringify({ a: JSON.stringify({ b: `[${number}]` }) }),
};

/** Arguments of a call: a text like others. */
const called = (text: string) => ({
  input: [{ type: 'function_call', call_id: 'a', name: 'f', arguments: text }],
});

test.each(Object.entries(texts))('a number in another notation is read as its digits %s', (_name, text) => {
  const actionOn = (number: string) => findCards(called(text(number)), { endpoint: 'responses' }).action;

  expect(notations(card).filter((number) => actionOn(number) !== 'block')).toEqual([]);
  expect(notations(noCard).filter((number) => actionOn(number) !== 'allow')).toEqual([]);
});

test('a number in another notation is read as its digits in the body itself', () => {
  const actionOn = (number: string) => findCards(`{"messages":[],"x":{"y":[${number}]}}`).action;

  expect(notations(card).filter((number) => actionOn(number) !== 'block')).toEqual([]);
  expect(notations(noCard).filter((number) => actionOn(number) !== 'allow')).toEqual([]);
});

test('a decimal with more digits than a double can hold is also read as written', () => {
  // The double nearest to it ends in 8: 6304000000000000008 is another number.
  const decide = policyOf({ id: 'n', action: 'block', when: { text: { regex: ['^6304000000000000009$'] } } });

  expect(decide('{"messages":[],"x":6.304000000000000009e18}').action).toBe('block');
  expect(decide('{"messages":[],"x":6.304000000000000007e18}').action).toBe('allow');
});

test('a text of digits takes no longer with exponents', () => {
  const body = called(`[${'1'.repeat(300_000)},${'1e5'.repeat(50_000)}${'1.'.repeat(100_000)}`);

  expect(cpuMs(() => findCards(body, { endpoint: 'responses' }))).toBeLessThan(2_000);
});
