import { describe, expect, test } from 'vitest';
import { decider, policyOf, saying } from './deciding.ts';

const secret = { phrases: ['project nightfall'] };
const block = { id: 'codename', action: 'block', when: { text: secret }, reason: 'content.codename' };

describe('a decision', () => {
  test('allows what no rule matches', () => {
    const decide = policyOf(block);

    expect(decide(saying('hello'))).toMatchObject({ action: 'allow', verdicts: [], unseen: 0 });
  });

  test('names rule, reason, message and place of a block, never what matched', () => {
    const decide = policyOf({ ...block, message: 'not this name' });

    const decision = decide(saying([{ type: 'text', text: 'about PROJECT  nightfall' }]));

    expect(decision.refusal).toEqual({
      rule: 'codename',
      reason: 'content.codename',
      message: 'not this name',
      at: '/messages/0/content/0/text',
    });
    expect(decision.verdicts[0]?.matches).toEqual([
      { at: '/messages/0/content/0/text', view: 'folded', matcher: 'text', count: 1 },
    ]);
    expect(JSON.stringify(decision).toLowerCase()).not.toContain('nightfall');
  });

  test('does not repeat a key that matched in the pointer to it', () => {
    const decision = policyOf(block)({ messages: [], metadata: { 'project nightfall': 1 } });

    expect(decision.refusal?.at).toBe('/metadata');
  });

  test('takes the strictest action, and among blocks the first rule', () => {
    const decide = policyOf(
      { id: 'warns', action: 'warn', when: { text: { phrases: ['alpha'] } } },
      { id: 'second', action: 'block', when: { text: { phrases: ['beta'] } }, reason: 'content.beta' },
      { id: 'third', action: 'block', when: { text: { phrases: ['alpha'] } }, reason: 'content.alpha' },
    );

    expect(decide(saying('alpha'))).toMatchObject({
      action: 'block',
      refusal: { rule: 'third' },
      verdicts: [{ rule: 'warns', action: 'warn' }, { rule: 'third' }],
    });
    expect(decide(saying('alpha beta')).refusal?.rule).toBe('second');
  });

  test('only records what a rule in dry run would have done', () => {
    const decision = policyOf({ ...block, mode: 'monitor' })(saying('project nightfall'));

    expect(decision).toMatchObject({ action: 'allow', wouldBlock: ['codename'] });
    expect(decision.verdicts).toHaveLength(1);
    expect(decision.refusal).toBeUndefined();
  });

  test('only records what a policy in dry run would have done, its default included', () => {
    const decide = decider({ mode: 'monitor', default: 'deny', rules: [block] });

    expect(decide(saying('project nightfall'))).toMatchObject({ action: 'allow', wouldBlock: ['codename'] });
    expect(decide(saying('hello'))).toMatchObject({ action: 'allow', wouldBlock: ['default'] });
  });

  test('refuses what no rule allows where the default is deny', () => {
    const decide = decider({
      default: 'deny',
      rules: [{ id: 'sandbox', action: 'allow', when: { model: ['sandbox-*'] } }],
    });

    expect(decide(saying('hi')).action).toBe('allow');
    expect(decide(saying('hi'), { model: 'gpt-4o' })).toMatchObject({
      action: 'block',
      refusal: { rule: 'default', reason: 'policy.default' },
    });
    expect(decide(saying('hi'), { targetModels: ['gpt-4o'] }).action).toBe('block');
  });

  test('blocks with policy.error where a rule throws, and keeps the cause for the log', () => {
    const decide = policyOf(block);
    const cause = new Error('broken dialect');

    const decision = decide(saying('hello'), {
      dialect: {
        ...decider({ rules: [] }),
        get places(): never {
          throw cause;
        },
      } as never,
    });

    expect(decision).toMatchObject({ action: 'block', refusal: { reason: 'policy.error' } });
    expect(decision.failure?.cause).toBe(cause);
  });

  test.each(['block', 'redact', 'mask'])('finds what comes after any number of exceptions: %s', (action) => {
    const decide = policyOf({
      ...{ id: 'addresses', action, when: { text: { detect: ['email'] } } },
      except: { text: { phrases: ['press@example.com'] } },
    });
    const excepted = Array.from({ length: 12_000 }, () => ({ type: 'text', text: 'press@example.com' }));

    const decision = decide(saying([...excepted, { type: 'text', text: 'rosa@example.org' }]));

    expect(decision).toMatchObject({ action, verdicts: [{ rule: 'addresses' }] });
    expect(decision.redacted?.bytes.includes('rosa') ?? false).toBe(false);
  });

  test('does not count what lies within an exception', () => {
    const decide = policyOf({
      id: 'tickets',
      action: 'block',
      when: { text: { regex: ['\\bTCK-[0-9]{6}\\b'] } },
      except: { text: { phrases: ['TCK-000000'] } },
    });

    expect(decide(saying('see TCK-000000')).action).toBe('allow');
    expect(decide(saying('see TCK-000000 and TCK-123456')).action).toBe('block');
  });

  test('looks only at texts of the roles that a rule names', () => {
    const decide = policyOf({ ...block, when: { text: { ...secret, in: ['user'] } } });
    const body = (role: string, content: unknown) => ({ messages: [{ role, content }] });

    expect(decide({ system: 'project nightfall', messages: [] }).action).toBe('allow');
    // A role that nobody knows counts as every role, and so does a field that nobody knows.
    expect(decide(body('wizard', 'project nightfall')).action).toBe('block');
    expect(decide({ messages: [], extra: 'project nightfall' }).action).toBe('block');
  });

  test('distinguishes spellings in exact mode', () => {
    const decide = policyOf({ ...block, when: { text: { ...secret, match: 'exact' } } });

    expect(decide(saying('project nightfall')).action).toBe('block');
    expect(decide(saying('Project Nightfall')).action).toBe('allow');
  });

  test('refuses unreadable content if the policy demands it, and counts it in any case', () => {
    const image = saying([
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
    ]);
    const file = saying([{ type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }]);

    expect(decider({})(image)).toMatchObject({ action: 'allow', unseen: 1 });
    expect(decider({ opaque_content: 'block' })(image).refusal).toMatchObject({
      reason: 'content.opaque',
      at: '/messages/0/content/0/source',
    });
    expect(decider({ unseen_references: 'block' })(file).refusal?.reason).toBe('content.unseen_reference');
    expect(decider({ unseen_references: 'block' })(image).action).toBe('allow');
  });

  test('an expression sees each string of JSON inside a string, and with anchors a whole text only', () => {
    const decide = policyOf({ ...block, when: { text: { regex: ['^top secret$'] } } });
    const call = { function: { arguments: '{"q":"top secret"}' } };
    const body = { messages: [{ role: 'assistant', tool_calls: [call] }] };

    expect(decide(body, { endpoint: 'chat' }).action).toBe('block');
    expect(decide(saying('top secret')).action).toBe('block');
    expect(decide(saying('a top secret')).action).toBe('allow');
  });
});

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
