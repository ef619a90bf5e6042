import { expect, test } from 'vitest';
import { compileGlob, covers } from '../../src/policy/glob.ts';

test.each([
  ['*', '', true],
  ['a*c', 'abbc', true],
  ['a*c', 'abbcd', false],
  ['a?c', 'abc', true],
  ['a?c', 'ac', false],
  ['a.c', 'abc', false],
  ['*-mini*', 'gpt-4o-mini-2024', true],
  ['?', '\u{1f680}', true],
])('%s on %s is %s', (glob, name, expected) => {
  expect(compileGlob(glob)(name)).toBe(expected);
});

test('many stars on a long name take no exponential time', () => {
  expect(compileGlob(`${'*a'.repeat(50)}b`)('a'.repeat(5000))).toBe(false);
});

test.each([
  ['gpt-*', 'gpt-4*', true],
  ['gpt-*', 'gpt-4o', true],
  ['*', 'x?', true],
  ['gpt-4*', 'gpt-*', false],
  ['a*b', 'a*', false],
])('%s covers %s: %s', (wide, narrow, expected) => {
  expect(covers(wide, narrow)).toBe(expected);
});
