import { expect, test } from 'vitest';
import type { Detector } from '../../../src/policy/detectors/detector.ts';
import { rangesOutside } from '../../../src/policy/search/exceptions.ts';
import { createFold } from '../../../src/policy/search/fold.ts';
import type { Pattern } from '../../../src/policy/search/patterns.ts';
import { createRandom } from './random.ts';

const fold = createFold();

/** Finds the same stretches in every text. */
function finding(stretches: readonly { readonly start: number; readonly end: number }[]): Pattern {
  const detector: Detector = {
    find: () => stretches,
    folded: false,
    prefilter: { kind: 'always' },
    reach: 100,
  };
  return { kind: 'detector', confidence: 'likely', name: 'given', detector };
}

test('a stretch is left out where an exception holds all of it, however they overlap', () => {
  const random = createRandom(5);
  const stretches = (count: number) =>
    Array.from({ length: count }, () => {
      const start = random.below(40);
      return { start, end: start + 1 + random.below(12) };
    });
  let leftOut = 0;
  for (let round = 0; round < 300; round += 1) {
    const sought = stretches(8);
    const excepted = [stretches(random.below(4)), stretches(random.below(4))];

    const spans = rangesOutside(finding(sought), excepted.map(finding), 'x', fold);

    const expected = sought.filter(
      ({ start, end }) => !excepted.flat().some((each) => each.start <= start && each.end >= end),
    );
    expect(spans.map(({ start, end }) => ({ start, end }))).toEqual(expected);
    leftOut += sought.length - expected.length;
  }
  expect(leftOut).toBeGreaterThan(100);
});

// Going through all exceptions for each match would take minutes.
test('a text of hundreds of thousands of matches and exceptions is gone through once', () => {
  const phrase = (text: string): Pattern => ({ kind: 'phrase', text, match: 'exact' });

  const spans = rangesOutside(phrase('zeus'), [phrase('zeus inn')], 'zeus inn zeus '.repeat(200_000), fold);

  expect(spans.length).toBe(200_000);
});
