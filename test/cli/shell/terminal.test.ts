import { expect, test } from 'vitest';
import { table } from '../../../src/cli/shell/terminal.ts';

const rows = [
  ['sandbox-mini', 'ready'],
  ['m', 'not configured'],
];

test('a table for people has aligned columns and a header', () => {
  expect(table(['MODEL', 'STATUS'], rows, true)).toBe(
    'MODEL         STATUS\nsandbox-mini  ready\nm             not configured\n',
  );
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

test('no rows leave the header alone, or nothing', () => {
  expect(table(['A', 'B'], [], true)).toBe('A  B\n');
  expect(table(['A', 'B'], [], false)).toBe('');
});
