import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { scoreDetector, scoreTable } from './labelled-set/measure.ts';
import { labelledSets } from './labelled-set/registry.ts';

const held = new Set(['credit_card', 'iban', 'us_ssn', 'private_key', 'secrets', 'gateway_key']);

describe.each(Object.entries(labelledSets))('%s on its labelled set', (name, { detector, label }) => {
  const labelled = label();

  test('has at least 500 different positives and 2,000 different negatives', () => {
    const positives = new Set(labelled.positives.map(({ text }) => text));
    const negatives = new Set(labelled.negatives.map(({ text }) => text));

    expect(positives.size).toBeGreaterThanOrEqual(500);
    expect(negatives.size).toBeGreaterThanOrEqual(2000);
  });

  test('plants every positive where it can be seen', () => {
    const hidden = labelled.positives.filter(
      ({ text, planted = '' }) => planted === '' || !text.includes(planted),
    );

    expect(hidden).toEqual([]);
  });

  test('is precise and complete enough', () => {
    const score = scoreDetector(detector, labelled);
    const least = held.has(name) ? { precision: 0.99, recall: 0.95 } : { precision: 0.95, recall: 0.9 };

    expect(score.precision, JSON.stringify(score.mistaken.slice(0, 3))).toBeGreaterThanOrEqual(
      least.precision,
    );
    expect(score.recall, JSON.stringify(score.missed.slice(0, 3))).toBeGreaterThanOrEqual(least.recall);
  });
});

test('no value of a fixed form is longer than its detector reaches', () => {
  const tooLong = Object.entries(labelledSets)
    .filter(([name]) => name !== 'private_key')
    .flatMap(([, { detector, label }]) =>
      label().positives.filter(({ planted = '' }) => planted.length > detector.reach),
    );

  expect(tooLong).toEqual([]);
});

test('a detector that finds nothing and one that finds everything score as badly as they are', () => {
  const labelled = labelledSets.iban.label();
  const never = { ...labelledSets.iban.detector, find: () => [] };
  const always = { ...labelledSets.iban.detector, find: (text: string) => [{ start: 0, end: text.length }] };

  expect(scoreDetector(never, labelled).recall).toBe(0);
  expect(scoreDetector(always, labelled).precision).toBeLessThan(0.3);
});

test('the table in docs/detectors.md is what is measured', () => {
  const document = readFileSync(new URL('../../../docs/detectors.md', import.meta.url), 'utf8');

  expect(document, 'run node scripts/detector-table.mjs and put its output there').toContain(scoreTable());
});
