import { expect, test } from 'vitest';
import type { Detector } from '../../../src/policy/detectors/detector.ts';
import { detectors } from '../../../src/policy/detectors/registry.ts';
import { scale } from '../../kit/scale.ts';
import { labelledSets } from './labelled-set/registry.ts';

/** Detectors that are not asked about texts joined with a space that lack what they need for a finding over it. */
const declaring = Object.entries<Detector>(detectors).flatMap(([name, detector]) =>
  [detector, detector.possible].flatMap((each) =>
    each?.holdsSpace === undefined ? [] : [{ name, ...each }],
  ),
);
const step = scale(23, 1);
const texts = [
  'password = "walnut glacier saddle harvest"',
  "{ passphrase: 'walnut glacier saddle harvest' }",
  ...Object.values(labelledSets).flatMap(({ label }) => {
    const { positives, negatives } = label();
    return [...positives, ...negatives].filter((_, at) => at % step === 0).map(({ text }) => text);
  }),
];
/** As they are, and as two texts that are joined with a space in the middle of a word. */
const joined = texts.flatMap((text, at) => {
  const middle = Math.floor((text.length * (1 + (at % 7))) / 8);
  return [text, `${text.slice(0, middle)} ${text.slice(middle)}`];
});

test.each(declaring)(
  '$name finds nothing with a space in it where a text lacks the signs of it',
  (detector) => {
    const { find, holdsSpace } = detector;
    const spaced = joined.filter((text) =>
      find(text).some(({ start, end }) => text.slice(start, end).includes(' ')),
    );

    if (holdsSpace === undefined || holdsSpace === 'never') expect(spaced).toEqual([]);
    else {
      expect(spaced.length).toBeGreaterThan(scale(20, 500));
      expect(spaced.filter((text) => !holdsSpace.test(text))).toEqual([]);
    }
  },
);

test.each(declaring.filter(({ holdsSpace }) => holdsSpace === 'never'))(
  '$name finds enough without a space to tell',
  ({ find }) => {
    expect(joined.filter((text) => find(text).length > 0).length).toBeGreaterThan(scale(20, 500));
  },
);

test('secrets and addresses are among them', () => {
  expect(new Set(declaring.map(({ name }) => name))).toEqual(
    new Set(['email', 'ip_address', 'secrets', 'public_ip_address']),
  );
});
