import { expect, test } from 'vitest';
import { isDigit, toCharacterSet } from '../../../../src/policy/detectors/text/characters.ts';
import { findLongRuns } from '../../../../src/policy/detectors/text/long-runs.ts';

const digits = toCharacterSet(isDigit);

test('finds every run that is long enough, wherever it begins', () => {
  for (let lead = 0; lead < 12; lead += 1) {
    const text = `${'x'.repeat(lead)}1234x123x12345x1234`;

    expect(findLongRuns(text, 4, digits).map(({ start, end }) => text.slice(start, end))).toEqual([
      '1234',
      '12345',
      '1234',
    ]);
  }
});

test('treats characters outside ASCII as outside the set', () => {
  expect(findLongRuns('12５34', 3, digits)).toEqual([]);
});
