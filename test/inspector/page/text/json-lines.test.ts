import { describe, expect, test } from 'vitest';
import { toIndented, toLines, toShown } from '../../../../src/inspector/page/text/json-lines.ts';

const written = (text: string, most = 100) =>
  toLines(text, most).lines.map(
    ({ depth, pieces }) =>
      '  '.repeat(depth) + pieces.map(({ start, end }) => text.slice(start, end)).join(''),
  );

describe('JSON', () => {
  test('is broken into indented lines', () => {
    expect(written('{"a":[1,{"b":"x"}],"c":{},"d":[ ]}')).toEqual([
      '{',
      '  "a":[',
      '    1,',
      '    {',
      '      "b":"x"',
      '    }',
      '  ],',
      '  "c":{},',
      '  "d":[]',
      '}',
    ]);
  });

  test('keeps numbers and escapes as they were written', () => {
    expect(toIndented('{"n":12345678901234567890,"s":"\\u0041\\n","e":1.0e5}')).toBe(
      '{\n  "n": 12345678901234567890,\n  "s": "\\u0041\\n",\n  "e": 1.0e5\n}',
    );
  });

  test('loses no character but white space between values, whatever is cut off', () => {
    const text = '{"a": [1, {"b": "x, {y} [z]: \\" "}], "c": {}, "d": true}';

    for (let length = 0; length <= text.length; length += 1) {
      const part = text.slice(0, length);
      const shown = toLines(part, 100).lines.flatMap(({ pieces }) => pieces);
      const kept = shown.map(({ start, end }) => part.slice(start, end)).join('');

      expect(kept.replace(/\s/g, '')).toBe(part.replace(/\s/g, ''));
    }
  });

  test('stops at the requested number of lines, and shows that it did', () => {
    const { lines, hasAllLines } = toLines(JSON.stringify(Array.from({ length: 1000 }, (_, i) => i)), 10);

    expect(lines.length).toBe(10);
    expect(hasAllLines).toBe(false);
  });

  test('of a megabyte in one string, the most that is shown, is one piece', () => {
    const { lines } = toLines(JSON.stringify({ a: '\\"x'.repeat(250_000) }), 10);

    expect(lines[1]?.pieces.map(({ kind }) => kind)).toEqual(['key', 'punctuation', 'string']);
  });
});

test('other text keeps its own lines', () => {
  expect(written('event: a\ndata: {}\n\n')).toEqual(['event: a', 'data: {}', '', '']);
});

describe('a long piece', () => {
  const piece = { kind: 'string', start: 0, end: 10_000 } as const;
  const mark = { start: 5000, end: 5010, kind: 'redacted', at: '/a' } as const;

  test('shows its beginning and what is around a mark', () => {
    expect(toShown(piece, [mark], { isOpen: false })).toEqual([
      { start: 0, end: 600 },
      { hidden: 4280 },
      { start: 4880, end: 5000 },
      { start: 5000, end: 5010, mark },
      { start: 5010, end: 5130 },
      { hidden: 4870 },
    ]);
  });

  test('is shown whole when it is opened', () => {
    expect(toShown(piece, [mark], { isOpen: true })).toEqual([
      { start: 0, end: 5000 },
      { start: 5000, end: 5010, mark },
      { start: 5010, end: 10_000 },
    ]);
  });
});
