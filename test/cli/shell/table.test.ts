import stringWidth from 'fast-string-width';
import { describe, expect, test } from 'vitest';
import { alignedUsd, table } from '../../../src/cli/shell/print/table.ts';

const rows = [
  ['sandbox-mini', 'ready'],
  ['m', 'not configured'],
];

test('a table for people has aligned columns and a header', () => {
  expect(table(['MODEL', 'STATUS'], rows, true)).toBe(
    'MODEL         STATUS\nsandbox-mini  ready\nm             not configured\n',
  );
});

test('a terminal that does not know its width gets the whole table', () => {
  expect(table(['MODEL', 'STATUS'], rows, true, { columns: 0 })).toBe(table(['MODEL', 'STATUS'], rows, true));
});

test('a column of numbers stands on the right; a number among words does not', () => {
  const values = [
    ['9', '1.50', '3 ms', '7', '2026-11-01'],
    ['1200', '', '12 ms', 'all', '2026-11-02'],
  ];

  expect(table(['COUNT', 'US$', 'TIME', 'WHAT', 'DAY'], values, true)).toBe(
    'COUNT   US$   TIME  WHAT  DAY\n    9  1.50   3 ms  7     2026-11-01\n 1200        12 ms  all   2026-11-02\n',
  );
});

test('amounts of money have the decimals that the finest needs, at least two', () => {
  expect(alignedUsd([3, 0.00125, 0])).toEqual(['3.00000', '0.00125', '0.00000']);
  expect(alignedUsd([20, 1.5])).toEqual(['20.00', '1.50']);
  expect(alignedUsd([1e-9])).toEqual(['0.00']);
});

test('a table for scripts has tabs and no header', () => {
  expect(table(['MODEL', 'STATUS'], rows, false)).toBe('sandbox-mini\tready\nm\tnot configured\n');
});

test('a cell keeps to its place', () => {
  expect(table(['A', 'B'], [['a\tb\r\nc', 'd']], false)).toBe('a b c\td\n');
});

test('no cell moves the terminal', () => {
  for (const isForPeople of [true, false]) {
    expect(table(['A'], [['a\u001b[2J\u009b1mb\u0007']], isForPeople)).not.toMatch(
      /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/,
    );
  }
});

describe('on a terminal that is narrow', () => {
  const header = ['ID', 'NAME', 'STATUS', 'TAGS', 'CATEGORY'];
  const plants = [
    ['1', 'Boston Fern', 'available', 'green,leafy,shade,indoor', 'houseplant'],
    ['22', 'Monstera Deliciosa', 'sold', 'green,large', ''],
    ['333', '緑のシダ 観葉', 'pending', '🌿,🪴,👩‍🌾', 'été à l’ombre'],
  ];
  const everyWord = new Set([header, ...plants].flat().flatMap((cell) => cell.split(/[\s,]+/)));

  test.each(Array.from({ length: 161 }, (_, i) => 40 + i))(
    '%i columns: no line is wider, no word is cut',
    (columns) => {
      const lines = table(header, plants, true, { columns }).trimEnd().split('\n');

      expect(Math.max(...lines.map((line) => stringWidth(line)))).toBeLessThanOrEqual(columns);
      const shown = lines
        .join(' ')
        .split(/[\s,…]+/)
        .filter((word) => word !== '');
      expect(shown.filter((word) => !everyWord.has(word))).toEqual([]);
      expect(lines).toHaveLength(4);
    },
  );

  test('the last column loses words, then goes, and a sign says so', () => {
    expect(table(header, plants.slice(0, 2), true, { columns: 58 })).toBe(
      [
        'ID  NAME                STATUS     TAGS  …',
        ' 1  Boston Fern         available  green,leafy,shade,…',
        '22  Monstera Deliciosa  sold       green,large',
        '',
      ].join('\n'),
    );
    expect(table(header, plants.slice(0, 2), true, { columns: 40 })).toBe(
      [
        'ID  NAME                STATUS  …',
        ' 1  Boston Fern         available',
        '22  Monstera Deliciosa  sold',
        '',
      ].join('\n'),
    );
  });

  test('what costs least to miss may be another column', () => {
    const rows = [['shop', '12', '0.25']];

    expect(
      table(['PROJECT', 'REQUESTS', 'COST'], rows, true, { columns: 20, narrowedFirst: ['REQUESTS'] }),
    ).toBe('PROJECT  COST  …\nshop     0.25\n');
  });
});

test('wide characters and emoji take two columns, marks none', () => {
  expect(
    table(
      ['A', 'B'],
      [
        ['緑', 'x'],
        ['👩‍🌾', 'x'],
        ['e\u0301', 'x'],
      ],
      true,
    ),
  ).toBe('A   B\n緑  x\n👩‍🌾  x\ne\u0301   x\n');
});

test('what turns the direction of text becomes a blank', () => {
  expect(table(['A'], [['a\u202eb\u2066c']], true)).toBe('A\na b c\n');
});
