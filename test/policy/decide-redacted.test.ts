import { expect, test } from 'vitest';
import { decider, policyOf } from './deciding.ts';

const saying = (content: unknown) => ({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content }] });
const removes = (phrase: string, more: object = {}) => ({
  id: `no-${phrase}`,
  action: 'redact',
  when: { text: { phrases: [phrase] } },
  reason: 'content.secret',
  ...more,
});

test('the result of a redaction is checked by the rules that block', () => {
  const decide = policyOf(removes('hush'), {
    id: 'labels',
    action: 'block',
    when: { text: { phrases: ['[redacted:content.secret]'] } },
    reason: 'content.label',
  });

  expect(decide(saying('a hush'))).toMatchObject({
    action: 'block',
    refusal: { rule: 'labels', at: '/messages/0/content' },
    verdicts: [{ rule: 'no-hush' }, { rule: 'labels' }],
  });
  expect(decide(saying('nothing'))).toMatchObject({ action: 'allow' });
});

test('a redaction whose result matches again terminates or is refused', () => {
  const decide = policyOf(removes('hush'), removes('content'));

  const decision = decide(saying('a hush'));

  expect(decision).toMatchObject({ action: 'block', refusal: { reason: 'content.unredactable' } });
});

test('a rule that redacts has decided for its policy, although what it took out is gone', () => {
  const decide = decider({ default: 'deny', rules: [removes('hush')] });

  expect(decide(saying('a hush'))).toMatchObject({ action: 'redact' });
  expect(decide(saying('nothing'))).toMatchObject({ action: 'block', refusal: { reason: 'policy.default' } });
});
