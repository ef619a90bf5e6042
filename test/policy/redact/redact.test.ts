import { describe, expect, test } from 'vitest';
import { parseStrictJson } from '../../../src/json/strict-json.ts';
import { createFold } from '../../../src/policy/fold/fold.ts';
import { Plan } from '../../../src/policy/redact/redact.ts';
import { ViewedTexts } from '../../../src/policy/search/viewed-text.ts';
import { parseNested } from '../../../src/policy/traverse/encoded.ts';
import { policyOf, saying } from '../deciding.ts';

const decide = policyOf({
  id: 'codename',
  action: 'redact',
  when: { text: { phrases: ['nightfall'], detect: ['email'] } },
  except: { text: { phrases: ['nightfall inn'] } },
  reason: 'content.secret',
});
const label = '[REDACTED:content.secret]';

function redacted(body: unknown): unknown {
  const decision = decide(body);
  expect(decision).toMatchObject({ action: 'redact' });
  const bytes = decision.redacted?.bytes as Buffer;
  parseStrictJson(bytes);
  return JSON.parse(bytes.toString());
}

/** More than any memory of single matches would hold. */
const many = Array.from({ length: 40_000 }, (_, at) => `u${at}@b.io`);

describe('redaction', () => {
  test.each([
    ['blocks', saying(many.map((text) => ({ type: 'text', text })))],
    ['one text', saying(many.join(' '))],
  ])('replaces 40,000 values in %s, in one pass', (_where, body) => {
    const decision = decide(body);

    expect(decision.verdicts).toHaveLength(1);
    expect(decision.redacted?.bytes.toString().split(label)).toHaveLength(many.length + 1);
    expect(decision.redacted?.bytes.includes('@')).toBe(false);
  });

  test('replaces what matched and nothing else, byte for byte', () => {
    const body =
      '{ "messages" : [ {"role":"user","content":"a \\"nightfall\\" \\u00e9 é"} ],\n "temperature": 1.0 }';

    const decision = decide(body);

    expect(decision.redacted?.bytes.toString()).toBe(
      `{ "messages" : [ {"role":"user","content":"a \\"${label}\\" é é"} ],\n "temperature": 1.0 }`,
    );
  });

  test.each([
    [
      'every place, in both views, with the disguise that belongs to it',
      'Nightfall, ＮＩＧＨＴＦＡＬＬ, n\u0301ig\u200bhtfall, bob@example.com',
      `${label}, ${label}, ${label}, ${label}`,
    ],
    ['matches that overlap as one', 'x nightfall@example.com y', `x ${label} y`],
    ['what is no exception', 'the Nightfall Inn at nightfall', `the Nightfall Inn at ${label}`],
    ['what stands between emoji, which stay whole', '🚀nightfall🚀', `🚀${label}🚀`],
  ])('replaces %s', (_what, text, expected) => {
    expect(redacted(saying(text))).toEqual(saying(expected));
  });

  test('replaces in tool arguments and keeps them JSON', () => {
    const body = (q: string) => ({
      messages: [
        {
          role: 'assistant',
          tool_calls: [{ id: 'a', function: { name: 'f', arguments: JSON.stringify({ q }) } }],
        },
      ],
    });

    expect(redacted(body('see "nightfall"\n'))).toEqual(body(`see "${label}"\n`));
  });

  test('replaces in many texts that are JSON without going through all of them for each', () => {
    const count = 500;
    const root = parseStrictJson(Buffer.from(JSON.stringify({ a: Array(count).fill('["nightfall"]') })));
    const plan = new Plan(root, () => false);
    const texts = new ViewedTexts(createFold());
    let asked = 0;
    for (let entry = 3; entry < root.count; entry += 1) {
      const inner = parseNested(root.text(entry));
      if (inner === undefined) throw new Error('not JSON');
      const outer = {
        entry,
        get document() {
          asked += 1;
          return root;
        },
      };
      const segment = {
        place: { document: inner, entry: 3, outer },
        roles: 1,
        optional: undefined,
        unit: { all: 0, block: 0, turn: 0, run: 0 } as const,
      };
      plan.add({
        match: { pattern: 0, view: 'exact', segment },
        pattern: { kind: 'phrase', text: 'nightfall' },
        texts,
        except: [],
        label: 'x',
      });
    }

    const body = plan.apply();

    expect(JSON.parse(body.toString())).toEqual({ a: Array(count).fill('["x"]') });
    expect(asked).toBeLessThan(count * 10);
  });

  test('redacts what is split over two blocks', () => {
    const blocks = (...texts: readonly string[]) => saying(texts.map((text) => ({ type: 'text', text })));

    expect(redacted(blocks('a night', 'fall b'))).toEqual(blocks(`a ${label}`, ' b'));
  });

  test.each([
    [
      'signed thinking',
      {
        messages: [
          { role: 'assistant', content: [{ type: 'thinking', thinking: 'nightfall', signature: 'abc' }] },
        ],
      },
      '/messages/0/content/0/thinking',
    ],
    [
      'a text in many small pieces',
      saying([...'nightfall'].map((text) => ({ type: 'text', text }))),
      '/messages/0/content/8/text',
    ],
  ])('refuses instead where it would have to change %s', (_name, body, at) => {
    const decision = decide(body);

    expect(decision).toMatchObject({
      action: 'block',
      refusal: { rule: 'codename', reason: 'content.unredactable', at },
    });
    expect(decision.redacted).toBeUndefined();
  });

  test('refuses where a key would have to change', () => {
    expect(decide({ messages: [], metadata: { nightfall: 1 } }).refusal?.reason).toBe('content.unredactable');
  });

  test('does nothing in dry run', () => {
    const dry = policyOf({
      id: 'a',
      action: 'redact',
      mode: 'monitor',
      when: { text: { phrases: ['nightfall'] } },
    });

    expect(dry(saying('nightfall'))).toMatchObject({ action: 'allow', wouldBlock: ['a'] });
    expect(dry(saying('nightfall')).redacted).toBeUndefined();
  });

  test('is overridden by a block', () => {
    const both = policyOf(
      { id: 'a', action: 'redact', when: { text: { phrases: ['nightfall'] } } },
      { id: 'b', action: 'block', when: { text: { phrases: ['dawn'] } } },
    );

    expect(both(saying('nightfall and dawn'))).toMatchObject({ action: 'block', refusal: { rule: 'b' } });
  });
});
