import { expect, test } from 'vitest';
import { PathIndex } from '../../../src/config/source/report.ts';

const index = new PathIndex<string>();
index.add(['projects', 'web', 'keys', 0, 'value'], 'first');
index.add(['projects', 'web', 'keys', 1, 'value'], 'second');
index.add(['providers', 'a"b'], 'third');

test('finds what stands at a path or below it', () => {
  expect(index.at(['projects', 'web', 'keys', 1, 'value'])).toBe('second');
  expect(index.at(['projects', 'web', 'keys', 1])).toBeUndefined();
  expect(index.below(['projects', 'web', 'keys'])).toEqual(['first', 'second']);
  expect(index.below(['projects', 'we'])).toEqual([]);
  expect(index.below(['projects', 'web', 'keys', 1, 'value'])).toEqual(['second']);
});

test('covers what stands at a path above or at it', () => {
  expect(index.covers(['providers', 'a"b', 'api_key'])).toBe(true);
  expect(index.covers(['providers', 'a"b'])).toBe(true);
  expect(index.covers(['providers'])).toBe(false);
  expect(index.covers(['providers', 'a', 'b'])).toBe(false);
});
