import { expect, test } from 'vitest';
import { createFold } from '../../../src/policy/search/fold.ts';
import { compilePatternSet } from '../../../src/policy/search/pattern-set.ts';
import type { TextVerdict } from '../../../src/policy/search/text-reader.ts';
import { VerdictCache } from '../../../src/policy/search/verdict-cache.ts';
import { plainText } from './text-bytes.ts';

const after = compilePatternSet([], createFold()).scanner.start;

function verdictWith(pattern: number): TextVerdict {
  return { patternMatches: [{ pattern, view: 'exact' }], candidates: [], after };
}

/** Long enough to be remembered, and another text for each number. */
function textOf(number: number) {
  return plainText(`${number} ${'the gateway should stream tokens '.repeat(8)}`);
}

function meet(cache: VerdictCache, number: number): void {
  const text = textOf(number);
  cache.set(cache.hash(text), text, verdictWith(number));
}

function recall(cache: VerdictCache, number: number): TextVerdict | undefined {
  const text = textOf(number);
  return cache.get(cache.hash(text), text);
}

test('has the verdict of a text that was met twice', () => {
  const cache = new VerdictCache();

  meet(cache, 1);
  const once = recall(cache, 1);
  meet(cache, 1);

  expect(once).toBeUndefined();
  expect(recall(cache, 1)).toEqual(verdictWith(1));
});

test('takes no text for another, whatever their hashes', () => {
  const cache = new VerdictCache();
  const hash = cache.hash(textOf(1));
  for (let time = 0; time < 2; time += 1) cache.set(hash, textOf(1), verdictWith(1));

  expect(cache.get(hash, textOf(2))).toBeUndefined();
});

test('forgets the oldest texts when there is no more room', () => {
  const cache = new VerdictCache({ limitBytes: 1 << 12 });

  for (let number = 0; number < 100; number += 1) {
    meet(cache, number);
    meet(cache, number);
  }

  expect(recall(cache, 0)).toBeUndefined();
  expect(recall(cache, 99)).toEqual(verdictWith(99));
});
