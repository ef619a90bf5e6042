import { describe, expect, test } from 'vitest';
import { textDialects } from '../../kit/dialects.ts';
import { scale } from '../../kit/scale.ts';
import { policyOf } from '../deciding.ts';
import { forms, type Slot, slots, turnOf } from '../traverse/slots.ts';

// A value that one text shows whole, beside words of the next, in every pair of places of every dialect: the value is
// masked and the words stay. A value that is cut in two at the same places leaves no piece.

const decide = policyOf({
  id: 'found',
  action: 'mask',
  when: { text: { detect: ['email', 'secrets', 'iban', 'phone'] } },
});

/** By kind: what stands before a value, and the value. */
const values: readonly (readonly [string, string])[] = [
  ['the key is API_KEY=', 'q8Zr2LxV7nT4wKc9YbHd1mPs'],
  ['write to ', 'ann@example.com'],
  ['use ', 'ghp_16C7e42F292c6912E7710c838347Ae178B4a'],
];
const words = ['Available agent types', 'src/main.ts is a file', 'README has it', "Don't do it"];

/** Places whose texts can be changed. */
function writable(slot: Slot, text: string): boolean {
  return (
    JSON.stringify(slot.make(text)).includes(text) && !/name of a file|source of|title|^name$/.test(slot.name)
  );
}

describe.each(textDialects)('%s', (dialect) => {
  const form = forms[dialect];
  const own = slots[dialect].filter((slot) => writable(slot, 'x y'));
  const pairs = own
    .flatMap((one) => own.map((other) => [one, other] as const))
    .filter((_, i) => i % scale(41, 5) === 0);
  const sentFor = (one: object, other: object) => {
    const body = form.body([one, other, form.turn('user', 'go on')]);
    const decision = decide(body, { endpoint: dialect });
    return { action: decision.action, sent: String(decision.redacted?.bytes) };
  };

  test('words beside a whole value stay', () => {
    const wrong: string[] = [];
    let count = 0;
    for (const [one, other] of pairs) {
      for (const [before, value] of values) {
        for (const next of words) {
          count += 1;
          const { action, sent } = sentFor(turnOf(form, one, before + value), turnOf(form, other, next));
          const isRight = action === 'block' || (!sent.includes(value) && sent.includes(next));
          if (!isRight) wrong.push(`${one.name}, ${other.name}: ${value}|${next}`);
        }
      }
    }

    expect(wrong.slice(0, 10)).toEqual([]);
    expect(count).toBeGreaterThan(scale(24, 200));
  });

  test('a value after a word of another turn is masked without it', () => {
    const { sent } = sentFor(
      form.turn('user', 'please write to'),
      form.turn('assistant', 'ann@example.com now'),
    );

    expect(sent).toContain('please write to"');
    expect(sent).not.toContain('ann@example.com');
  });

  test('no piece of a value that is cut in two leaves, unless it is a word', () => {
    const [[before, value] = ['', '']] = values;
    const wrong: string[] = [];
    for (const [one, other] of pairs) {
      for (let cut = 1; cut < value.length; cut += 1) {
        const head = value.slice(0, cut);
        const tail = value.slice(cut);
        // Where readers have markup, what reads as a word is one.
        if (/^[A-Z]?[a-z]*$/.test(tail)) continue;
        const { action, sent } = sentFor(
          turnOf(form, one, before + head),
          turnOf(form, other, `${tail} end`),
        );
        const leaves = sent.includes(`${tail} end`) || sent.includes(`=${head}"`);
        if (action !== 'block' && leaves) wrong.push(`${one.name}, ${other.name}: ${head}|${tail}`);
      }
    }

    expect(wrong.slice(0, 10)).toEqual([]);
  });
});

const spread: readonly (readonly [string, string])[] = [
  ['my API_KEY=', 'q8Zr2LxV7nT4wKc9YbHd1mPs'],
  ['use ', 'ghp_16C7e42F292c6912E7710c838347Ae178B4a'],
  ['mail ', 'ann.miller@example.com'],
  ['iban ', 'DE89370400440532013000'],
];

test.each(textDialects)('%s: no piece of a value that is spread over three texts leaves', (dialect) => {
  const { body, turn } = forms[dialect];
  const [{ make }] = slots[dialect] as [Slot];
  const wrong: string[] = [];
  for (const [before, value] of spread) {
    for (let at = 0; at < value.length - 1; at += 1) {
      const [one, two, three] = [value.slice(0, at), value.slice(at, at + 3), value.slice(at + 3)];
      const layouts = [
        [turn('user', [make(before + one), make(two), make(`${three} end`)])],
        [turn('user', before + one), turn('assistant', two), turn('user', `${three} end`)],
      ];
      for (const turns of layouts) {
        const { redacted } = decide(body(turns), { endpoint: dialect });
        const left = [one, three].filter(
          (each) => !/^[A-Z]?[a-z]*$/.test(each) && String(redacted?.bytes).includes(each),
        );
        if (redacted === undefined || left.some((each) => each.length > 2))
          wrong.push(`${one}|${two}|${three} in ${turns.length} turns`);
      }
    }
  }

  expect(wrong.slice(0, 10)).toEqual([]);
});

test.each([
  ['blocks', 1],
  ['turns', 2],
])('a value whose name is in the text before is masked, in two %s', (_, count) => {
  const texts = ['my API_KEY=', 'q8Zr2LxV7nT4wKc9YbHd1mPs'].map((text) => ({ type: 'text', text }));
  const messages =
    count === 1
      ? [{ role: 'user', content: texts }]
      : texts.map((text, at) => ({ role: ['user', 'assistant'][at], content: [text] }));

  const { redacted } = decide({ model: 'm', max_tokens: 9, messages });

  expect(String(redacted?.bytes)).toContain('"my API_KEY="');
  expect(String(redacted?.bytes)).not.toContain('q8Zr2');
});

test.each([
  ['user', 'system'],
  ['user', 'assistant'],
  ['assistant', 'user'],
  ['user', 'user'],
])('a key at the end of a message of the %s, and a word alone in one of the %s', (one, other) => {
  const messages = [
    { role: one, content: 'API_KEY=q8Zr2LxV7nT4wKc9YbHd1mPs' },
    { role: other, content: 'continue' },
  ];

  const { redacted } = decide({ model: 'm', messages }, { endpoint: 'chat' });

  expect(JSON.parse(String(redacted?.bytes)).messages[1].content).toBe('continue');
});

test.each([
  [
    'blocks',
    [
      { type: 'text', text: 'API_KEY=q8Zr2LxV7nT4wKc9YbHd1mPs' },
      { type: 'text', text: 'Called the tool' },
    ],
  ],
  [
    'results',
    ['API_KEY=q8Zr2LxV7nT4wKc9YbHd1mPs', 'total\n48 a'].map((content) => ({
      ...{ type: 'tool_result', tool_use_id: 't', content },
    })),
  ],
])('a word at the beginning of the next of two %s of a turn stays', (_, content) => {
  const { redacted } = decide({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content }] });

  const next = JSON.parse(String(redacted?.bytes)).messages[0].content[1];
  expect(next).toEqual(content[1]);
});

test('in blocks of one turn a word alone may be the end of the value', () => {
  const content = ['API_KEY=q8Zr2LxV7nT4wKc9YbHd1m', 'abcd'].map((text) => ({ type: 'text', text }));

  const { redacted } = decide({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content }] });

  expect(String(redacted?.bytes)).not.toContain('abcd');
});
