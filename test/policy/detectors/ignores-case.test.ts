import { describe, expect, test } from 'vitest';
import type { Detector } from '../../../src/policy/detectors/detector.ts';
import { detectors } from '../../../src/policy/detectors/registry.ts';
import { scale } from '../../kit/scale.ts';
import { labelledSets } from './labelled-set/registry.ts';

/** Detectors that are not asked again about an ASCII text in small letters. */
const insensitive = Object.entries<Detector>(detectors).flatMap(([name, detector]) =>
  detector.ignoresCase === true ? [[name, detector] as const] : [],
);

describe('detectors that ignore case', () => {
  const texts = Object.values(labelledSets).flatMap(({ label }) => {
    const { positives, negatives } = label();
    const step = scale(23, 1);
    return [...positives, ...negatives].filter((_, at) => at % step === 0).map(({ text }) => text);
  });
  const ascii = texts.flatMap((text) => [text, text.toUpperCase()]).filter((text) => /^[ -~]*$/.test(text));

  test('are those whose findings say nothing of case', () => {
    expect(insensitive.map(([name]) => name)).not.toContain('secrets');
    expect(insensitive.length).toBeGreaterThan(0);
  });

  test.each(insensitive)(
    '%s finds nothing in small letters that it misses in any others',
    (_name, detector) => {
      const missed = ascii.filter(
        (text) => detector.find(text.toLowerCase()).length > 0 && detector.find(text).length === 0,
      );

      expect(ascii.length).toBeGreaterThan(scale(200, 1000));
      expect(missed).toEqual([]);
    },
  );
});
