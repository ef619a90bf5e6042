import { describe, expect, test } from 'vitest';
import { compilePatternSet } from '../../../src/policy/automaton/patterns.ts';
import { secrets } from '../../../src/policy/detectors/secrets/secrets.ts';
import { expandFormat } from '../../../src/policy/detectors/shapes/format.ts';
import { prefiltersOf, services, toShapes } from '../../../src/policy/detectors/shapes/shape.ts';
import { scale } from '../../kit/scale.ts';
import { drawKey } from '../detectors/labelled-set/draw-key.ts';
import { createRandom } from '../detectors/labelled-set/random.ts';
import { labelledSets } from '../detectors/labelled-set/registry.ts';
import { fold, plainText } from './text-bytes.ts';

describe.each(Object.entries(labelledSets))('the prefilter of %s', (name, { detector, label }) => {
  // A new one for each test: the texts of one may leave no room for the states of the next.
  const create = () => {
    const { scanner, always } = compilePatternSet(
      [{ kind: 'detector', name, confidence: 'likely', detector }],
      fold,
    );
    const opens = (text: string) => {
      const isFound = scanner.scan(plainText(text));
      return always.length > 0 || isFound;
    };
    return { always, opens };
  };

  test('opens for every text of the labelled set in which the detector finds something', () => {
    const { opens } = create();
    const { positives, negatives } = label();
    const step = scale(20, 1);
    const texts = [...positives, ...negatives].filter((_, at) => at % step === 0);
    const stopped = texts.filter(
      ({ text }) =>
        (detector.find(text).length > 0 ||
          fold.texts(text).some((each) => detector.find(each.text).length > 0)) &&
        !opens(text),
    );

    expect(stopped).toEqual([]);
  });

  test('opens for hardly any text of ordinary program text', () => {
    const code = 'if (x42 === "value") {\n  return { id: 123456, path: "/a/b", at: [1, 2, 3] };\n}\n'.repeat(
      20,
    );

    const { always, opens } = create();
    expect(always.length === 0 && opens(code)).toBe(false);
  });
});

test('a key of every form that need not be a long run opens the expressions of the table of shapes', () => {
  const shapes = services.flatMap(toShapes);
  const detector = { ...secrets, prefilter: { kind: 'regexes', regexes: prefiltersOf(shapes) } as const };
  const { scanner } = compilePatternSet(
    [{ kind: 'detector', name: 'secrets', confidence: 'likely', detector }],
    fold,
  );
  const formats = services.flatMap((service) => service.formats.flatMap(expandFormat));
  const sought = formats.filter((_, at) => prefiltersOf(shapes.slice(at, at + 1)).length > 0);

  const stopped = sought.filter((format, at) => !scanner.scan(plainText(drawKey(createRandom(at), format))));

  expect(stopped).toEqual([]);
});
