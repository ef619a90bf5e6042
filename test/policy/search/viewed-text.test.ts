import { expect, test } from 'vitest';
import type { Pattern } from '../../../src/policy/automaton/patterns.ts';
import type { Detector } from '../../../src/policy/detectors/detector.ts';
import { createFold } from '../../../src/policy/fold/fold.ts';
import { ViewedText } from '../../../src/policy/search/viewed-text.ts';
import { createRandom } from '../../kit/random.ts';

const fold = createFold();

/** Finds the same ranges in every text. */
function finding(ranges: readonly { readonly start: number; readonly end: number }[]): Pattern {
  const detector: Detector = {
    find: () => ranges,
    folded: false,
    prefilter: { kind: 'always' },
    reach: 100,
  };
  return { kind: 'detector', confidence: 'likely', name: 'given', detector };
}

test('a range is left out if exceptions cover all of it, however they overlap', () => {
  const random = createRandom(5);
  const ranges = (count: number) =>
    Array.from({ length: count }, () => {
      const start = random.below(40);
      return { start, end: start + 1 + random.below(12) };
    });
  let leftOut = 0;
  for (let round = 0; round < 300; round += 1) {
    const sought = ranges(8);
    const excepted = [ranges(random.below(4)), ranges(random.below(4))];

    const found = new ViewedText('x', fold).rangesOutside(
      finding(sought),
      excepted.map((each) => ({ key: '', pattern: finding(each) })),
    );

    const expected = sought.filter(
      ({ start, end }) => !excepted.flat().some((each) => each.start <= start && each.end >= end),
    );
    expect(found.map(({ start, end }) => ({ start, end }))).toEqual(expected);
    leftOut += sought.length - expected.length;
  }
  expect(leftOut).toBeGreaterThan(100);
});

// Going through all exceptions for each match would take minutes.
test('a text of hundreds of thousands of matches and exceptions is gone through once', () => {
  const phrase = (text: string): Pattern => ({ kind: 'phrase', text });

  const text = new ViewedText('zeus inn zeus '.repeat(200_000), fold);
  const found = text.rangesOutside(phrase('zeus'), [{ key: '', pattern: phrase('zeus inn') }]);

  expect(found.length).toBe(200_000);
});
