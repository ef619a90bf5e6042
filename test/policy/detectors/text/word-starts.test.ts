import { expect, test } from 'vitest';
import { secretWordHere, secretWords } from '../../../../src/policy/detectors/secrets/secret-names.ts';
import { WordStarts } from '../../../../src/policy/detectors/text/word-starts.ts';
import { createRandom } from '../labelled-set/random.ts';

function placesOf(starts: WordStarts, text: string): number[] {
  const places: number[] = [];
  starts.each(text, (at) => places.push(at));
  return places;
}

test('finds where words begin, in any case, at both ends of a text', () => {
  const words = new WordStarts([
    ['curl', 'wget'],
    ['pw', 'key'],
  ]);

  expect(placesOf(words, 'Curl it, or WGET; a KEY, the pw')).toEqual([0, 12, 20, 29]);
  expect(placesOf(words, 'pw')).toEqual([0]);
  expect(placesOf(words, '')).toEqual([]);
});

test('says of which groups the words are', () => {
  const found: number[] = [];

  new WordStarts([['secret'], ['secrets'], ['vault']]).each('a secret in a vault', (_, groups) =>
    found.push(groups),
  );

  // Both words for the first: four characters are compared.
  expect(found).toEqual([0b11, 0b100]);
});

test('a sign for digits stands for any of them', () => {
  expect(placesOf(new WordStarts([[':####:']]), 'db:5432:shop, db:port:shop')).toEqual([2]);
});

test('misses no word for secrets of any script in random texts', () => {
  const random = createRandom(50);
  const starts = new WordStarts(secretWords);
  const others = ['a ', 'The ', '-', '=', '"', 'ß', '模型', ' ключи', 'TO', 'se', 'k'];
  const cased = (word: string) =>
    random.pick([word, word.toUpperCase(), word[0]?.toUpperCase() + word.slice(1)]);
  const every = new RegExp(secretWordHere.source, 'gi');
  const here = new RegExp(secretWordHere.source, 'iy');
  const isHere = (text: string, at: number) => {
    here.lastIndex = at;
    return here.test(text);
  };

  for (let round = 0; round < 2000; round += 1) {
    const text = Array.from({ length: 12 }, () =>
      random.pick([cased(random.pick(secretWords.flat())), random.pick(others)]),
    ).join('');
    const places = new Set(placesOf(starts, text));
    const missed = [...text.matchAll(every)].filter(({ index }) => !places.has(index) && isHere(text, index));
    expect(missed.map(([word]) => word)).toEqual([]);
  }
});
