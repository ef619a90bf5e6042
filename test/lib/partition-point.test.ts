import { expect, test } from 'vitest';
import { partitionPoint } from '../../src/lib/partition-point.ts';

test.each([
  [[], 5, 0],
  [[3], 3, 0],
  [[3], 4, 1],
  [[3, 7, 9], 2, 0],
  [[3, 7, 9], 7, 1],
  [[3, 7, 9], 8, 2],
  [[3, 7, 7, 9], 8, 3],
  [[3, 7, 9], 100, 3],
])('of %j those below %i end before index %i', (numbers: readonly number[], limit, index) => {
  expect(partitionPoint(numbers.length, (at) => (numbers[at] as number) < limit)).toBe(index);
});
