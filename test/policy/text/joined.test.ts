import { describe, expect, test } from 'vitest';
import { join, lastJointBefore } from '../../../src/policy/text/joined.ts';

describe('joined texts', () => {
  test('hold all of those between, and of the outer ones no more than the reach', () => {
    expect(join(['abcd', 'efgh', 'ijkl'], ' ', 2)).toEqual({ text: 'cd efgh ij', joints: [2, 7] });
  });

  test.each([
    [[], 5, -1],
    [[3], 3, -1],
    [[3], 4, 0],
    [[3, 7, 9], 2, -1],
    [[3, 7, 9], 7, 0],
    [[3, 7, 9], 8, 1],
    [[3, 7, 9], 100, 2],
  ])('of the joints %j the last before %i is the one at index %i', (joints, place, index) => {
    expect(lastJointBefore(joints, place)).toBe(index);
  });
});
