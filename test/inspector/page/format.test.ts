import { expect, test } from 'vitest';
import {
  formatBytes,
  formatCost,
  formatCount,
  formatDuration,
  formatMicroseconds,
  formatTick,
} from '../../../src/inspector/page/format.ts';

test.each([
  [formatDuration(0.44), '0.4 ms'],
  [formatDuration(412.2), '412 ms'],
  [formatDuration(1804.9), '1.80 s'],
  [formatDuration(45_000), '45.0 s'],
  [formatDuration(123_000), '2 min 3 s'],
  [formatMicroseconds(31), '31 µs'],
  [formatMicroseconds(1466), '1.5 ms'],
  [formatCount(9999), '9,999'],
  [formatCount(12_345), '12.3k'],
  [formatCount(2_300_000), '2.3M'],
  [formatCost(0), '$0'],
  [formatCost(0.00001), '<$0.0001'],
  [formatCost(0.0031), '$0.0031'],
  [formatCost(12.5), '$12.50'],
  [formatBytes(999), '999 B'],
  [formatBytes(4312), '4.3 kB'],
  [formatBytes(5_000_000), '5.0 MB'],
])('%s', (formatted, expected) => {
  expect(formatted).toBe(expected);
});

const hourMs = 3_600_000;
// In whatever time zone this runs.
const at = (day: number, hour: number, minute = 0) => new Date(2026, 9, day, hour, minute).toISOString();

test('within an hour it is the time, at midnight too', () => {
  expect(formatTick(at(20, 14, 5), hourMs)).toBe('14:05');
  expect(formatTick(at(20, 0), hourMs)).toBe('00:00');
});

test('within a day it is the time, and the day where one begins', () => {
  expect(formatTick(at(20, 16), 24 * hourMs)).toBe('16:00');
  expect(formatTick(at(21, 0), 24 * hourMs)).toBe('21 Oct');
});

test('over days it is the day, on those of 23 and 25 hours too', () => {
  expect(formatTick(at(25, 0), 7 * 24 * hourMs)).toBe('25 Oct');
  expect(formatTick(at(24, 23), 30 * 24 * hourMs)).toBe('24 Oct');
  expect(formatTick(at(25, 1), 30 * 24 * hourMs)).toBe('25 Oct');
});
