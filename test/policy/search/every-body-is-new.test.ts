import { expect, test } from 'vitest';
import { type DialectName, dialects } from '../../../src/dialects/registry.ts';
import { parseStrictJson } from '../../../src/json/strict-json.ts';
import type { PolicySet } from '../../../src/policy/policy-set.ts';
import { createRandom } from '../../kit/random.ts';
import { alteredBody, randomBody } from '../../kit/random-conversations.ts';
import { compile, subjectOf } from '../deciding.ts';

const rule = (id: string, action: string, text: unknown, more: object = {}) => ({
  id,
  action,
  when: { text },
  reason: `content.${id}`,
  ...more,
});

const policies = {
  // Everything is told, nothing is refused.
  told: {
    opaque_content: 'allow',
    rules: [
      rule('phrase', 'warn', { phrases: ['project nightfall'], match: 'folded' }),
      rule('exact', 'warn', { phrases: ['nightfall'], match: 'exact', in: ['assistant', 'tool_result'] }),
      rule(
        'pattern',
        'warn',
        { regex: ['\\bTCK-[0-9]{6}\\b'] },
        { except: { text: { phrases: ['TCK-000000'] } } },
      ),
      rule('card', 'warn', { detect: ['credit_card'] }),
      rule('mail', 'warn', { detect: ['email'], in: ['user', 'system'] }),
      rule('phone', 'warn', { detect: ['phone'] }),
      { id: 'turns', action: 'warn', when: { messages: { over: 3 } }, reason: 'limits.turns' },
      { id: 'shell', action: 'warn', when: { tools: ['Read'] }, reason: 'tools.read' },
    ],
  },
  redacting: {
    rules: [
      rule('phrase', 'redact', { phrases: ['project nightfall'], match: 'folded' }),
      rule('mail', 'redact', { detect: ['email'] }),
      rule('card', 'redact', { detect: ['credit_card'] }),
    ],
  },
  blocking: {
    opaque_content: 'block',
    unseen_references: 'block',
    rules: [
      rule('dry', 'block', { phrases: ['nightfall'] }, { mode: 'monitor' }),
      rule('card', 'block', { detect: ['credit_card'] }),
    ],
  },
};

function decideWith(set: PolicySet, bytes: Buffer, endpoint: DialectName) {
  const document = parseStrictJson(bytes);
  const subject = { ...subjectOf({}), document, dialect: dialects[endpoint], endpoint };
  const { redacted, ...decision } = set.decide(subject);
  return { ...decision, redactedBody: redacted?.bytes.toString(), answerRules: set.answerRules(subject) };
}

test('a policy that has read other bodies decides as one that has read none', () => {
  const random = createRandom(7);
  const experienced = compile(policies);
  const names = Object.keys(dialects) as DialectName[];
  const seen = new Set<string>();
  for (let round = 0; round < 25; round += 1) {
    const own = random.of(names);
    let body = randomBody(random, own, random.below(12));
    const fresh = compile(policies);
    for (let turn = 0; turn < 4; turn += 1) {
      const endpoint = random.below(5) === 0 ? random.of(names) : own;
      const policy = random.below(2) === 0 ? random.of(Object.keys(policies)) : 'told';
      const bytes = Buffer.from(JSON.stringify(body));

      const decision = decideWith(experienced.select([policy]), bytes, endpoint);

      const expected = decideWith(fresh.select([policy]), bytes, endpoint);
      expect(decision).toEqual(expected);
      for (const { rule: id } of expected.verdicts) seen.add(id);
      seen.add(expected.action);
      body = alteredBody(random, own, body);
    }
  }

  expect(seen.size).toBeGreaterThan(11);
});
