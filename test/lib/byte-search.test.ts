import { expect, test } from 'vitest';
import { ByteSearch } from '../../src/lib/byte-search.ts';
import { createRandom, type Random } from '../kit/random.ts';
import { scale } from '../kit/scale.ts';

const found = (search: ByteSearch, text: string) => {
  const bytes = Buffer.from(text);
  return search.places(bytes).map(({ start, end }) => bytes.toString('utf8', start, end));
};

test('finds the longest text at each place, and goes on behind it', () => {
  const search = new ByteSearch(['key-1', 'key-12', '2key']);

  expect(found(search, 'akey-12key-1')).toEqual(['key-12', 'key-1']);
});

test('of none nothing is found', () => {
  expect(found(new ByteSearch([]), 'some text')).toEqual([]);
});

test('takes the next longest where the longest is not accepted', () => {
  const accepts = (_: Buffer, start: number, end: number) => end - start < 6;

  expect(found(new ByteSearch(['key-12', 'key-1'], { accepts }), 'key-12')).toEqual(['key-1']);
});

test('of many that begin alike seeks the first ones only', () => {
  const texts = Array.from({ length: 40 }, (_, at) => `${'the same beginning '.repeat(2)}${at + 10}`);
  const search = new ByteSearch([...texts, 'the same '], { maxAlike: 16 });

  expect(texts.filter((text) => found(search, text).length > 0)).toEqual(texts.slice(0, 16));
});

/** What a search for each text by itself finds. */
function foundByAll(texts: readonly string[], text: string): readonly string[] {
  const longestFirst = texts.toSorted((one, other) => other.length - one.length);
  const all: string[] = [];
  for (let at = 0; at < text.length; ) {
    const own = longestFirst.find((each) => text.startsWith(each, at));
    if (own !== undefined) all.push(own);
    at += own?.length ?? 1;
  }
  return all;
}

function letters(random: Random, length: number): string {
  return Array.from({ length }, () => random.of(['a', 'b', 'c', 'd'])).join('');
}

test.each([1, 3, 40, 400])('finds what a search for each finds (%i texts)', (count) => {
  const random = createRandom(count);
  let places = 0;
  for (let round = 0; round < scale(60, 1_000); round += 1) {
    const texts = Array.from({ length: count }, () => letters(random, 2 + random.below(9)));
    const text = Array.from({ length: 20 }, () =>
      random.below(2) === 0 ? letters(random, random.below(20)) : random.of(texts),
    ).join('');
    const expected = foundByAll(texts, text);

    expect({ texts, text, found: found(new ByteSearch(texts), text) }).toEqual({
      texts,
      text,
      found: expected,
    });
    places += expected.length;
  }
  expect(places).toBeGreaterThan(500);
});
