import { expect, test } from 'vitest';
import { collectGarbage } from '../../../src/gateway/collect-garbage.ts';
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

test('what texts of many characters have in them is not kept behind them', () => {
  const heapBytes = () => {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const patterns = ['one', 'two', 'six', 'ten'].map(
    (text): Pattern => ({ kind: 'phrase', text, folded: [text] }),
  );
  let characters = '';
  for (let point = 0x20; point < 0x3_0000; point += 1)
    if (point < 0xd800 || point > 0xdfff) characters += String.fromCodePoint(point);
  const find = (pattern: Pattern) => new ViewedText(`ten six two one ${characters}`, fold).ranges(pattern);
  find({ kind: 'phrase', text: 'eon', folded: ['eon'] }); // the fold keeps what it knows of characters

  const before = heapBytes();
  const found = patterns.filter((pattern) => find(pattern).length > 0);
  const grown = heapBytes() - before;

  expect(found).toHaveLength(4);
  expect(grown).toBeLessThan(10_000_000);
});
