import { expect, test } from 'vitest';
import { timeRange } from '../../../../src/inspector/page/now/time-range.ts';

test.each([
  ['of three minutes', [600, 660, 720], [570, 750]],
  ['of days', [0, 86_400], [-43_200, 129_600]],
  ['of the first minute', [600], [570, 630]],
])('the axis %s has half a step on both sides', (_, times, range) => {
  expect(timeRange(times)).toEqual(range);
});
