import { expect, test } from 'vitest';
import { clip, countPromptTokens, countTokens, cutToTokens, slices } from '../../src/sandbox/tokens.ts';

test('counts four characters as one token, and a pair of surrogates as one character', () => {
  expect(['', 'abcd', 'abcde', '🌍🌍🌍🌍', '🌍🌍🌍🌍🌍'].map(countTokens)).toEqual([0, 1, 2, 1, 2]);
});

test('cuts at whole characters', () => {
  expect(cutToTokens('🌍🌍🌍🌍🌍', 1)).toBe('🌍🌍🌍🌍');
  expect(cutToTokens('abc', 5)).toBe('abc');
});

test('slices without breaking a character, and loses nothing', () => {
  const text = 'añ🌍日本\ud800x';

  const pieces = [...slices(text, 2)];

  expect(pieces).toEqual(['añ', '🌍日', '本\ud800', 'x']);
});

test('clips to one line', () => {
  expect(clip(' a\n b  c ', 3)).toBe('a b…');
  expect(clip('a b', 3)).toBe('a b');
});

test('counts names and texts of a prompt, media at a flat rate', () => {
  expect(countPromptTokens([{ role: 'user', content: 'hello' }])).toBe(5);
  expect(countPromptTokens([{ type: 'image', source: { data: 'x'.repeat(100_000) } }])).toBe(256);
  expect(countPromptTokens(undefined)).toBe(1);
});
