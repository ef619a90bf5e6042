import { describe, expect, test } from 'vitest';
import { join } from '../../../src/policy/search/joined.ts';

describe('joined texts', () => {
  test('hold all of those between, and of the outer ones no more than the reach', () => {
    expect(join(['abcd', 'efgh', 'ijkl'], ' ', 2)).toEqual({ text: 'cd efgh ij', joints: [2, 7] });
  });
});
