import { describe, expect, test } from 'vitest';
import { generateKey, hashKey } from '../../src/config/build/keys.ts';
import { explain } from '../../src/policy/explain.ts';
import { policySchema } from '../../src/policy/rules/schema.ts';
import { compile, saying, subjectOf } from './deciding.ts';

const rule = { id: 'a', action: 'block', when: { text: { phrases: ['nightfall'] } } };

function problems(...rules: readonly unknown[]) {
  return compile({ house: { rules } }).problems.map(({ path, message, severity }) => ({
    path: path.join('.'),
    message,
    severity,
  }));
}

describe('the schema of a policy', () => {
  const text = (more: object) => ({ when: { text: { phrases: ['a'], ...more } } });

  test.each([
    ['an unknown key', { otherwise: 1 }],
    ['an unknown option of a matcher', text({ phrase: ['a'] })],
    ['an unknown detector', text({ detect: ['cards'] })],
    ['an unknown confidence', text({ detect: [{ secrets: 'sure' }] })],
    ['no conditions', { when: undefined }],
    ['conditions without any', { when: {} }],
    ['a text without anything to look for', { when: { text: { in: ['user'] } } }],
    ['an id with spaces', { id: 'a b' }],
    ['hours that are none', { when: { time: { hours: ['9-5'] } } }],
  ])('refuses a rule with %s', (_name, more) => {
    expect(policySchema.safeParse({ rules: [{ ...rule, ...more }] }).success).toBe(false);
  });

  test('refuses an unknown key', () => {
    expect(policySchema.safeParse({ rule: [] }).success).toBe(false);
  });

  test('fills in what is left out', () => {
    expect(policySchema.parse({ rules: [rule] })).toMatchObject({
      apply: 'named',
      mode: 'enforce',
      default: 'allow',
      opaque_content: 'allow',
      unseen_references: 'allow',
      rules: [{ apply_to: ['request'], when: { text: { match: 'folded' } } }],
    });
  });
});

describe('problems of policies', () => {
  test('are none where all is well', () => {
    expect(problems(rule)).toEqual([]);
  });

  test('name detectors that are never certain, and settings that name none', () => {
    expect(problems({ ...rule, when: { text: { detect: ['iban', { email: 'certain' }, {}] } } })).toEqual([
      {
        path: 'house.rules.0.when.text.detect.1.email',
        message: 'email is never certain: use likely or possible',
        severity: 'error',
      },
      {
        path: 'house.rules.0.when.text.detect.2',
        message: 'name a detector: { secrets: possible }',
        severity: 'error',
      },
    ]);
  });

  test.each([
    ['a pattern that is none', '(', "not a pattern in RE2's syntax"],
    ['a pattern with a backreference', '(a)\\1', "not a pattern in RE2's syntax"],
    ['a pattern with a lookahead', 'a(?=b)', "not a pattern in RE2's syntax"],
    ['a pattern that matches the empty text', 'a*', 'matches the empty text'],
    ['a pattern that is too large', '[a-z]{900}[0-9]{900}', 'too large'],
  ])('tell of %s', (_name, source, message) => {
    const [problem] = problems({ ...rule, when: { text: { regex: ['fine', source] } } });

    expect(problem).toMatchObject({ path: 'house.rules.0.when.text.regex.1', severity: 'error' });
    expect(problem?.message).toContain(message);
  });

  test('report ids used twice, within a policy and across policies', () => {
    const compiled = compile({ one: { rules: [rule, { ...rule }] }, two: { rules: [{ ...rule }] } });

    expect(compiled.problems.map(({ path, severity }) => [path.join('.'), severity])).toEqual([
      ['one.rules.1.id', 'error'],
      ['two.rules.0.id', 'error'],
    ]);
  });

  const noText = { when: { model: ['a'] } };
  const never = { when: { key: ['shop-web'] }, unless: { key: ['shop-*'] } };
  const at = (hours: readonly string[], zone: string) => ({ when: { time: { hours, zone } } });

  // biome-ignore format: a case a line
  test.each<[string, object, readonly string[], string]>([
    ['phrases of which nothing is left', { when: { text: { phrases: ['\u0301'] } } }, ['.when.text.phrases.0'], 'error'],
    ['tests that fail', { tests: { block: ['Night Fall', 'NIGHTFALL'], allow: ['nightfalls', 'dawn'] } }, ['.tests.block.0', '.tests.allow.0'], 'error'],
    ['redaction without a text', { ...noText, action: 'redact' }, ['.action'], 'error'],
    ['exceptions without a text', { ...noText, except: { text: { phrases: ['x'] } } }, ['.except'], 'error'],
    ['tests without a text', { ...noText, tests: { block: ['x'] } }, ['.tests'], 'error'],
    ['a name that no model has', { when: { model: ['gpt,4'] } }, ['.when.model.0'], 'warning'],
    ['a rule that never matches', never, [''], 'warning'],
    ['hours that are none', at(['09:00-09:00'], 'Europe/Berlin'), ['.when.time.hours.0'], 'error'],
    ['a zone that is none', at(['09:00-10:00'], 'Mars'), ['.when.time.zone'], 'error'],
  ])('tell of %s', (_name, more, places, severity) => {
    const found = problems({ ...rule, ...more }).map((each) => [each.path, each.severity]);

    expect(found).toEqual(places.map((place) => [`house.rules.0${place}`, severity]));
  });

  test('tell of no rule that some names match and not all of them', () => {
    expect(problems({ ...rule, when: { tools: ['search'] }, unless: { tools: ['search'] } })).toEqual([]);
  });

  test('take only the texts of a rule into account in its tests', () => {
    const found = problems({
      ...rule,
      when: { model: ['nobody-*'], text: { phrases: ['nightfall'], in: ['system'] } },
      tests: { block: ['nightfall'], allow: ['dawn'] },
    });

    expect(found).toEqual([]);
  });

  test("warn of an allow rule that another policy's block makes dead", () => {
    const compiled = compile({
      house: { rules: [{ id: 'no-gpt', action: 'block', when: { model: ['gpt-*'] } }] },
      shop: { default: 'deny', rules: [{ id: 'mini', action: 'allow', when: { model: ['gpt-4o-mini'] } }] },
    });

    expect(compiled.problems).toEqual([
      {
        path: ['shop', 'rules', 0],
        message: 'this allow rule is dead: rule no-gpt of policy house blocks all that it allows',
        severity: 'warning',
      },
    ]);
  });
});

describe('a selection of policies', () => {
  const compiled = compile({
    house: { rules: [{ ...rule, id: 'house-rule' }] },
    shop: { rules: [{ id: 'shop-rule', action: 'block', when: { text: { phrases: ['dawn'] } } }] },
  });

  test('adds the rules up, each policy once', () => {
    const set = compiled.select(['house', 'shop', 'house']);

    expect(set.names).toEqual(['house', 'shop']);
    expect(set.decide(subjectOf(saying('nightfall'))).refusal?.rule).toBe('house-rule');
    expect(set.decide(subjectOf(saying('dawn'))).refusal?.rule).toBe('shop-rule');
  });

  test('leaves out what is not chosen', () => {
    expect(compiled.select(['shop']).decide(subjectOf(saying('nightfall'))).action).toBe('allow');
  });

  test('never lets a configured key out, whatever it allows', () => {
    const secret = 'sk-provider-0123456789abcdef';
    const set = compile({}, [secret]).select([]);

    expect(set.decide(subjectOf(saying(`use ${secret} please`))).refusal).toMatchObject({
      rule: 'gateway-key',
      reason: 'content.gateway_key',
    });
    expect(JSON.stringify(set.decide(subjectOf(saying(secret))))).not.toContain(secret);
    expect(set.decide(subjectOf(saying('hello'))).action).toBe('allow');
  });

  test('blocks its own keys by their hashes, and redacts those that nobody here knows', () => {
    const [own, other] = [generateKey(), generateKey()];
    const set = compile({}, [], [hashKey(own)]).select([]);

    expect(set.decide(subjectOf(saying(`use ${own}`))).refusal?.rule).toBe('gateway-key');
    const decision = set.decide(subjectOf(saying(`use ${other} please`)));
    expect([decision.action, decision.verdicts.map(({ rule: id }) => id)]).toEqual([
      'redact',
      ['unknown-gateway-key'],
    ]);
    expect(decision.redacted?.bytes.toString()).not.toContain(other);
  });

  test('keeps configured keys in where a rule names the detector of keys itself', () => {
    const secret = 'sk-provider-0123456789abcdef';
    const own = { id: 'keys', action: 'warn', when: { text: { detect: ['gateway_key'] } } };
    const set = compile({ house: { rules: [own] } }, [secret]).select(['house']);

    expect(set.decide(subjectOf(saying(secret)))).toMatchObject({
      action: 'block',
      verdicts: [{ rule: 'gateway-key' }, { rule: 'keys', action: 'warn' }],
    });
  });

  test('explains each rule with the time of the given clock', () => {
    let now = 0;
    const explanation = explain(compiled.select(['house', 'shop']), subjectOf(saying('Nightfall')), () => {
      now += 5;
      return now;
    });

    expect(explanation.decision.action).toBe('block');
    expect(
      explanation.rules.map(({ rule: id, matched, microseconds }) => [id, matched, microseconds]),
    ).toEqual([
      ['gateway-key', false, 5],
      ['unknown-gateway-key', false, 5],
      ['house-rule', true, 5],
      ['shop-rule', false, 5],
    ]);
    expect(explanation.rules[2]?.matches).toEqual([
      {
        at: '/messages/0/content',
        view: 'folded',
        matcher: 'text',
        count: 1,
        ranges: [{ start: 0, end: 9 }],
      },
    ]);
  });

  test('shows what each of two texts has of a phrase that goes over both', () => {
    const options = { rules: [{ ...rule, when: { text: { phrases: ['project nightfall'] } } }] };
    const blocks = ['of project night', 'fall'].map((text) => ({ type: 'text', text }));
    const late = ['fall', 'of project night', 'fall project night', 'fall it is'];
    const set = compile({ house: options }).select(['house']);
    const rangesIn = (content: readonly object[]) =>
      explain(set, subjectOf(saying(content)), () => 0)
        .rules.flatMap(({ matches }) => matches)
        .map(({ at, ranges }) => [at, ranges]);

    expect(rangesIn(blocks)).toEqual([['/messages/0/content/1/text', [{ start: 0, end: 4 }]]]);
    expect(rangesIn(late.map((text) => ({ type: 'text', text })))).toEqual([
      [
        '/messages/0/content/2/text',
        [
          { start: 0, end: 4 },
          { start: 5, end: 18 },
        ],
      ],
      ['/messages/0/content/3/text', [{ start: 0, end: 4 }]],
    ]);
  });
});

test('a pattern between slashes with flags is warned about', () => {
  const found = problems({ ...rule, when: { text: { regex: ['/night/i', '/usr/bin', '/a/b/'] } } });

  expect(found).toMatchObject([
    { severity: 'warning', message: expect.stringMatching(/^the slashes are a part of the pattern/) },
  ]);
});
