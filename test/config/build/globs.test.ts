import { expect, test } from 'vitest';
import { compileGlob, covers } from '../../../src/config/build/globs.ts';

test.each([
  ['claude-*', 'claude-3-opus'],
  ['claude-*', 'claude-'],
  ['*', ''],
  ['*', 'anything'],
  ['a*b*c', 'abc'],
  ['a*b*c', 'axxbyyc'],
  ['*-mini', 'gpt-4o-mini'],
  ['gpt.4', 'gpt.4'],
  ['a**b', 'ab'],
])('%s matches %j', (glob, name) => {
  expect(compileGlob(glob)(name)).toBe(true);
});

test.each([
  ['claude-*', 'xclaude-3'],
  ['claude-*', 'Claude-3'],
  ['a*a', 'a'],
  ['ab*ba', 'aba'],
  ['a*b*c', 'acb'],
  ['gpt.4', 'gptx4'],
  ['fast', 'fast2'],
])('%s does not match %j', (glob, name) => {
  expect(compileGlob(glob)(name)).toBe(false);
});

test('stays linear where a backtracking matcher would not end', () => {
  const matches = compileGlob(`${'a*'.repeat(50)}b`);

  expect(matches('a'.repeat(100_000))).toBe(false);
});

test.each([
  ['*', 'claude-*', true],
  ['claude-*', 'claude-3*', true],
  ['claude-*', 'claude-3', true],
  ['claude-3*', 'claude-*', false],
  ['a*b', 'a*', false],
  ['a*', 'a*b', true],
])('%s covers %s: %s', (wide, narrow, expected) => {
  expect(covers(wide, narrow)).toBe(expected);
});
