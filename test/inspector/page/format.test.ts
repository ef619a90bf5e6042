import { expect, test } from 'vitest';
import {
  formatBytes,
  formatCost,
  formatCount,
  formatDuration,
  formatMicroseconds,
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
