import { expect, test } from 'vitest';
import { type Detector, isAtLeast } from '../../../src/policy/detectors/detector.ts';
import { detectors } from '../../../src/policy/detectors/registry.ts';
import { scale } from '../../kit/scale.ts';
import { labelledSets } from './labelled-set/registry.ts';

const step = scale(47, 4);
const texts = Object.values(labelledSets).flatMap(({ label }) => {
  const { positives, negatives } = label();
  return [...positives, ...negatives].filter((_, at) => at % step === 0).map(({ text }) => text);
});
const disguised = texts.map((text, at) => {
  const middle = Math.floor((text.length * (1 + (at % 7))) / 8);
  return `${text.slice(0, middle)}\u200b${text.slice(middle)} ${texts[(at * 7) % texts.length]}`;
});

const withPossible = Object.entries<Detector>(detectors).flatMap(([name, detector]) =>
  detector.possible === undefined ? [] : [{ name, detector, possible: detector.possible }],
);

test.each(withPossible)(
  '$name finds something just where what is only possible is sought and something likelier is found',
  ({ detector, possible }) => {
    const all = [...texts, ...disguised];
    const differing = all.filter((text) => {
      const likelier = possible.find(text).some((finding) => isAtLeast(finding, 'likely'));
      return likelier !== detector.find(text).length > 0;
    });

    expect(differing).toEqual([]);
  },
);

test('secrets are found in enough of these texts to tell', () => {
  expect(texts.filter((text) => detectors.secrets.find(text).length > 0).length).toBeGreaterThan(
    scale(10, 250),
  );
});
