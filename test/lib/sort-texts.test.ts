import { expect, test } from 'vitest';
import { sortTexts } from '../../src/lib/sort-texts.ts';

/** The same numbers each time. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

test('texts are in the order of their UTF-16 units, whatever they begin with and however many there are', () => {
  const next = random(7);
  const letters = [...'ab_Z0~\u007f\u0080é漢\ud83d\ude00\0'];
  const word = (most: number) =>
    Array.from({ length: Math.floor(next() * most) }, () => letters[Math.floor(next() * letters.length)]);
  const heads = ['', 'EMAIL_', 'EMAIL_A', 'PHONE_', 'a'.repeat(40), '漢漢漢漢漢'];
  for (const count of [0, 1, 2, 16, 17, 200, 3_000]) {
    for (const most of [3, 12, 40]) {
      const made = Array.from({ length: count }, () => heads[Math.floor(next() * 6)] + word(most).join(''));
      const texts = [...new Set(made)];

      const sorted = Array.from(sortTexts(texts), (number) => texts[number]);

      expect(sorted).toEqual([...texts].sort());
    }
  }
});

test('texts that are the same to a hundred letters are in order too', () => {
  const texts = Array.from({ length: 500 }, (_, at) => `${'x'.repeat(100)}${(at * 37) % 500}`);

  expect(Array.from(sortTexts(texts), (number) => texts[number])).toEqual([...texts].sort());
});
