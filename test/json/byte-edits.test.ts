import { expect, test } from 'vitest';
import { applyEdits, type ByteEdit, memberEdit, replaceTexts } from '../../src/json/byte-edits.ts';
import { parseStrictJson } from '../../src/json/strict-json.ts';
import { createRandom } from '../kit/random.ts';

const edited = (text: string, ...edits: readonly ByteEdit[]) =>
  applyEdits(Buffer.from(text), edits).toString();
const read = (json: string) => parseStrictJson(Buffer.from(json));

test('bytes without edits are the same object', () => {
  const bytes = Buffer.from('{}');

  expect(applyEdits(bytes, [])).toBe(bytes);
});

test.each([
  [
    'a text of another length',
    'a-ü-d',
    [
      [1, 2, '-ü-'],
      [2, 3, ''],
    ],
  ],
  [
    'edits in any order',
    '1b2d',
    [
      [2, 3, '2'],
      [0, 1, '1'],
    ],
  ],
  [
    'two at one place, in their order',
    '<>abcd',
    [
      [0, 0, '<'],
      [0, 0, '>'],
    ],
  ],
  [
    'what lies in two, once',
    'XYcd',
    [
      [0, 2, 'X'],
      [1, 2, 'Y'],
    ],
  ],
  [
    'one within another',
    'XYd',
    [
      [0, 3, 'X'],
      [1, 2, 'Y'],
    ],
  ],
] as const)('replaces %s', (_, expected, edits) => {
  expect(edited('abcd', ...edits.map(([start, end, text]) => ({ start, end, text })))).toBe(expected);
});

test('many edits give the bytes that one after the other give', () => {
  const random = createRandom(3);
  for (let round = 0; round < 500; round += 1) {
    const text = 'abcdefghij'.repeat(1 + random.below(4));
    const cuts = Array.from({ length: 2 * (1 + random.below(5)) }, () => random.below(text.length)).sort(
      (one, other) => one - other,
    );
    const edits = cuts.flatMap((start, at) =>
      at % 2 === 0 ? [{ start, end: cuts[at + 1] ?? start, text: random.of(['', 'x', 'é', '漢字']) }] : [],
    );
    const expected = edits.toReversed().reduce((whole, { start, end, text: own }) => {
      return whole.slice(0, start) + own + whole.slice(end);
    }, text);

    expect(edited(text, ...edits)).toBe(expected);
  }
});

test('texts are written as JSON, and other bytes stay as they are', () => {
  const document = read('{ "a" : "x\\u0041", "n": 1 }');
  const texts = new Map([
    [document.root + 2, 'say "no"\n'],
    [document.root + 4, 'not a string'],
  ]);

  expect(replaceTexts(document, texts).toString()).toBe('{ "a" : "say \\"no\\"\\n", "n": 1 }');
});

test.each([
  ['replaces a value', '{"a":1,"n": 2}', '{"a":1,"n": 3}'],
  ['puts a new member first', '{"a":1}', '{"n":3,"a":1}'],
  ['fills an empty object', '{}', '{"n":3}'],
])('a member: %s', (_, json, expected) => {
  const document = read(json);
  const edit = memberEdit(document, document.root, { name: 'n', value: '3' });

  expect(applyEdits(document.bytes, [edit]).toString()).toBe(expected);
});
