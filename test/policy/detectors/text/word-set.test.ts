import { expect, test } from 'vitest';
import { createWordSet } from '../../../../src/policy/detectors/text/word-set.ts';

const words = createWordSet(['png', 'json', 'mp3']);

test.each([
  ['png', true],
  ['PNG', true],
  ['Mp3', true],
  ['pnk', false],
  ['jpg', false],
  ['jsons', false],
  ['pn', false],
  ['p\u00f1g', false],
  ['0ng', false],
])('a set of words has %s: %s', (word, expected) => {
  expect(words.has(`a.${word}/`, 2, 2 + word.length)).toBe(expected);
});
