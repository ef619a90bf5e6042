import { expect, test } from 'vitest';
import { compileGlob, covers, overlaps } from '../../src/policy/glob.ts';

test.each([
  ['*', '', true],
  ['a*c', 'abbcd', false],
  ['a?c', 'abc', true],
  ['a?c', 'ac', false],
  ['a.c', 'abc', false],
  ['*-mini*', 'gpt-4o-mini-2024', true],
  ['?', '\u{1f680}', true],
  ['a*b*c', 'acb', false],
  ['a**b', 'ab', true],
  ['a*a', 'a', false],
  ['ab*ba', 'aba', false],
  ['claude-*', 'xclaude-3', false],
  ['claude-*', 'Claude-3', false],
])('%s on %s is %s', (glob, name, expected) => {
  expect(compileGlob(glob)(name)).toBe(expected);
});

test('stars take no more time than the name is long', () => {
  expect(compileGlob(`${'a*'.repeat(50)}b`)('a'.repeat(100_000))).toBe(false);
  expect(compileGlob(`${'*a'.repeat(50)}b`)('a'.repeat(5000))).toBe(false);
});

test.each([
  ['gpt-*', 'gpt-4*', true],
  ['*', 'x?', true],
  ['gpt-4*', 'gpt-*', false],
  ['a*b', 'a*', false],
  ['a*', 'a*b', true],
  ['*-mini', 'gpt-*-mini', true],
  ['a?', 'a*', false],
])('%s covers %s: %s', (wide, narrow, expected) => {
  expect(covers(wide, narrow)).toBe(expected);
});

test.each([
  ['gpt-*', 'gpt-4o', true],
  ['gpt-*', '*-mini', true],
  ['gpt-*', 'claude-*', false],
  ['*a*', '*b*', true],
  ['a*c', 'ab?', true],
  ['fast', 'fast', true],
  ['**', '', true],
  ['a?', 'a', false],
  ['*-mini', 'gpt-*-max', false],
])('%s overlaps %s: %s', (one, other, expected) => {
  expect([overlaps(one, other), overlaps(other, one)]).toEqual([expected, expected]);
});
