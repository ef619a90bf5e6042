import { expect, test } from 'vitest';
import { createModelLabel } from '../../src/server/metrics/meter.ts';

const label = createModelLabel([
  { match: 'fast', isPattern: false },
  { match: 'claude-*', isPattern: true },
  { match: '*', isPattern: true },
]);

test.each([
  ['fast', 'fast'],
  ['claude-sonnet-4-5', 'claude-sonnet-4-5'],
  ['claude-sonnet-4-5-20250929', 'claude-sonnet-4-5'],
  ['sandbox-mini', 'sandbox-mini'],
  ['claude-made-up-by-somebody', 'other'],
  ['', 'other'],
  ['__proto__', 'other'],
  ['fast\n', 'other'],
])('the model %s is labelled %s', (model, expected) => {
  expect(label(model)).toBe(expected);
});

test('of ten thousand made-up names there is one label', () => {
  const names = Array.from({ length: 10_000 }, (_, i) => `claude-${i}-${'x'.repeat(i % 100)}`);

  expect(new Set(names.map(label))).toEqual(new Set(['other']));
});
