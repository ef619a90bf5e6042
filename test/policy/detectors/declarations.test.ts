import { describe, expect, test } from 'vitest';
import { type Detector, isSureEnough } from '../../../src/policy/detectors/detector.ts';
import { detectors } from '../../../src/policy/detectors/registry.ts';
import { scale } from '../../kit/scale.ts';
import { labelledSets } from './labelled-set/registry.ts';

// What a detector declares about itself lets the search skip it: a wrong declaration would miss findings.

const all = Object.entries<Detector>(detectors).map(([name, detector]) => ({ name, detector }));

/** One of `step` texts of every labelled set. */
function sampleTexts(step: number): readonly string[] {
  return Object.values(labelledSets).flatMap(({ label }) => {
    const { positives, negatives } = label();
    return [...positives, ...negatives].filter((_, at) => at % step === 0).map(({ text }) => text);
  });
}

/** A text with something put into one of seven places, mostly the middle of a word. */
function parted(text: string, at: number, separator: string): string {
  const middle = Math.floor((text.length * (1 + (at % 7))) / 8);
  return `${text.slice(0, middle)}${separator}${text.slice(middle)}`;
}

describe('where what is only possible is sought', () => {
  const texts = sampleTexts(scale(61, 7));
  const disguised = texts.map(
    (text, at) => `${parted(text, at, '\u200b')} ${texts[(at * 7) % texts.length]}`,
  );

  test.each(all.filter(({ detector }) => detector.possible !== undefined))(
    '$name finds something likelier just where it finds something by itself',
    ({ detector }) => {
      const differing = [...texts, ...disguised].filter((text) => {
        const likelier = detector.possible?.find(text).some((finding) => isSureEnough(finding, 'likely'));
        return likelier !== detector.find(text).length > 0;
      });

      expect(differing).toEqual([]);
    },
  );

  // What secrets finds depends on case, which the folded text has lost.
  test.each(all.filter(({ name, detector }) => name !== 'secrets' && detector.possible !== undefined))(
    '$name searches the folded text too, so that a disguise hides nothing',
    ({ detector }) => {
      expect(detector.possible?.folded).toBe(true);
    },
  );

  test('secrets are found in enough texts to tell', () => {
    expect(texts.filter((text) => detectors.secrets.find(text).length > 0).length).toBeGreaterThan(
      scale(10, 140),
    );
  });
});

describe('in texts joined with a space', () => {
  const declaring = all.flatMap(({ name, detector }) =>
    [detector, detector.possible].flatMap((each) =>
      each?.holdsSpace === undefined ? [] : [{ name, ...each }],
    ),
  );
  const texts = [
    'password = "walnut glacier saddle harvest"',
    "{ passphrase: 'walnut glacier saddle harvest' }",
    ...sampleTexts(scale(31, 3)),
  ].flatMap((text, at) => [text, parted(text, at, ' ')]);

  test.each(declaring)('$name finds nothing with a space where a text lacks the signs of it', (detector) => {
    const { find, holdsSpace } = detector;
    const found = texts.map((text) => ({ text, findings: find(text) }));
    const spaced = found.filter(({ text, findings }) =>
      findings.some(({ start, end }) => text.slice(start, end).includes(' ')),
    );

    expect(found.filter(({ findings }) => findings.length > 0).length).toBeGreaterThan(scale(20, 170));
    if (holdsSpace === undefined || holdsSpace === 'never') expect(spaced).toEqual([]);
    else {
      expect(spaced.length).toBeGreaterThan(scale(20, 170));
      expect(spaced.filter(({ text }) => !holdsSpace.test(text))).toEqual([]);
    }
  });

  test('secrets and addresses are among those that declare it', () => {
    expect(new Set(declaring.map(({ name }) => name))).toEqual(
      new Set(['email', 'ip_address', 'secrets', 'public_ip_address']),
    );
  });
});

describe('in small letters', () => {
  const insensitive = all.filter(({ detector }) => detector.ignoresCase === true);
  const texts = sampleTexts(scale(31, 3))
    .flatMap((text) => [text, text.toUpperCase()])
    .filter((text) => /^[ -~]*$/.test(text));

  test('detectors whose findings depend on case do not ignore it', () => {
    expect(insensitive.map(({ name }) => name)).not.toContain('secrets');
    expect(insensitive.length).toBeGreaterThan(0);
  });

  test.each(insensitive)('$name finds nothing that it misses in any others', ({ detector }) => {
    const missed = texts.filter(
      (text) => detector.find(text.toLowerCase()).length > 0 && detector.find(text).length === 0,
    );

    expect(texts.length).toBeGreaterThan(scale(200, 1000));
    expect(missed).toEqual([]);
  });
});
