import { describe, expect, test } from 'vitest';
import { compilePatternSet } from '../../../src/policy/automaton/pattern-set.ts';
import { createFold } from '../../../src/policy/fold/fold.ts';
import { scale } from '../../kit/scale.ts';
import { labelledSets } from '../detectors/labelled-set/registry.ts';
import { plainText } from './text-bytes.ts';

const fold = createFold();

describe.each(Object.entries(labelledSets))('the prefilter of %s', (name, { detector, label }) => {
  const patternSet = compilePatternSet([{ kind: 'detector', name, confidence: 'likely', detector }], fold);
  const opens = (text: string) => {
    const isFound = patternSet.scanner.scan(plainText(text));
    return patternSet.always.length > 0 || isFound;
  };

  test('opens for every text of the labelled set in which the detector finds something', () => {
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

    expect(patternSet.always.length === 0 && opens(code)).toBe(false);
  });
});
