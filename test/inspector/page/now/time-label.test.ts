import { expect, test } from 'vitest';
import { timeLabel } from '../../../../src/inspector/page/now/time-label.ts';

const hourS = 3600;
// In whatever time zone this runs.
const at = (day: number, hour: number, minute = 0) => new Date(2026, 9, day, hour, minute).getTime() / 1000;

test('within an hour it is the time, at midnight too', () => {
  expect(timeLabel(at(20, 14, 5), hourS)).toBe('14:05');
  expect(timeLabel(at(20, 0), hourS)).toBe('00:00');
});

test('within a day it is the time, and the day where one begins', () => {
  expect(timeLabel(at(20, 16), 24 * hourS)).toBe('16:00');
  expect(timeLabel(at(21, 0), 24 * hourS)).toBe('21 Oct');
});

test('over days it is the day, on those of 23 and 25 hours too', () => {
  expect(timeLabel(at(25, 0), 7 * 24 * hourS)).toBe('25 Oct');
  expect(timeLabel(at(25, 0) - hourS, 30 * 24 * hourS)).toBe('24 Oct');
  expect(timeLabel(at(25, 0) + hourS, 30 * 24 * hourS)).toBe('25 Oct');
});
