import { expect, test } from 'vitest';
import { atLeast } from '../../../../src/policy/detectors/detector.ts';
import { secrets } from '../../../../src/policy/detectors/secrets/secrets.ts';
import { found } from '../found.ts';
import { drawKey } from '../labelled-set/draw-key.ts';
import { createRandom } from '../labelled-set/random.ts';
import { formats, templates } from './fifth-round.ts';

const possible = atLeast(secrets, 'possible');

function missed(examples: readonly (readonly [string, string])[], seed: number): readonly string[] {
  return examples
    .map(([template, format], index) => {
      const key = drawKey(createRandom(seed + index), format);
      return { key, text: template.replace('{}', key) };
    })
    .filter(({ key, text }) => !found(possible, text).some((each) => each.includes(key)))
    .map(({ text }) => text);
}

test('finds nine in ten keys of services that were in no round before', () => {
  const examples = formats
    .trim()
    .split('\n')
    .flatMap((line) => line.trim().split(/ +/).slice(1))
    .map((format) => ['use "{}",', format] as const);

  expect(missed(examples, 77_000).length / examples.length).toBeLessThan(0.1);
});

test('finds 85 in a hundred values given to names in places that were in no round before', () => {
  expect(missed(templates, 78_000).length / templates.length).toBeLessThan(0.15);
});
