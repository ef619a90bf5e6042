import { expect, test } from 'vitest';
import { parseExpiry, parseSize } from '../../../src/config/schema/units.ts';
import { parseDuration } from '../../../src/lib/duration.ts';

test.each([
  ['500ms', 500],
  ['10s', 10_000],
  ['5m', 300_000],
  ['1h', 3_600_000],
  ['1.5s', 1500],
])('reads the duration %s', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each(['', '10', '10 s', '-1s', '1d', '1e3s', '10S', '600h', '1s2s'])(
  'refuses the duration %j',
  (text) => {
    expect(parseDuration(text)).toBeUndefined();
  },
);

test.each([
  ['16KiB', 16_384],
  ['32MiB', 33_554_432],
  ['10MB', 10_000_000],
  ['1.5kB', 1500],
])('reads the size %s', (text, bytes) => {
  expect(parseSize(text)).toBe(bytes);
});

test.each(['', '16', '16 KiB', '16kib', '-1B', '257MiB', '1TiB'])('refuses the size %j', (text) => {
  expect(parseSize(text)).toBeUndefined();
});

test.each([
  ['2027-06-30', '2027-07-01T00:00:00.000Z'],
  ['2028-02-29', '2028-03-01T00:00:00.000Z'],
  ['2027-06-30T12:00:00.5+02:00', '2027-06-30T10:00:00.500Z'],
])('an expiry of %s ends at %s', (text, end) => {
  expect(new Date(parseExpiry(text) ?? 0).toISOString()).toBe(end);
});

test.each(['2027-02-29', '2027-6-1', '2027-06-30T12:00:00', 'soon'])('refuses the expiry %j', (text) => {
  expect(parseExpiry(text)).toBeUndefined();
});
