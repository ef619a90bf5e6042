import { expect, test } from 'vitest';
import { DateLine } from '../../src/http/date-line.ts';

test('the line is of the form that HTTP wants, and ends', () => {
  expect(new DateLine().line(784_111_777_000)).toBe('date: Sun, 06 Nov 1994 08:49:37 GMT\r\n');
});

test('the line goes with the second, also where the clock is set back', () => {
  const date = new DateLine();

  const lines = [0, 999, 1_000, 1_999.9, 60_000, 0].map((nowMs) => date.line(nowMs));

  expect(lines.map((line) => line.slice(-15, -6))).toEqual([
    ' 00:00:00',
    ' 00:00:00',
    ' 00:00:01',
    ' 00:00:01',
    ' 00:01:00',
    ' 00:00:00',
  ]);
});
