import { describe, expect, test } from 'vitest';
import { buildModelFinder, buildModels } from '../../../src/config/build/models.ts';
import type { ProviderConfig } from '../../../src/config/build/providers.ts';
import { type ModelSettings, settingsSchema } from '../../../src/config/schema/schema.ts';
import { createReport } from '../../../src/config/source/report.ts';
import { growth } from '../../kit/growth.ts';

const sandbox = { name: 'sandbox', isConfigured: true } as ProviderConfig;
const toSettings = (globs: readonly string[]) =>
  settingsSchema.parse({ models: globs.map((match) => ({ match, provider: 'sandbox' })) }).models ?? [];

function build(models: readonly ModelSettings[]) {
  const report = createReport({ source: undefined, references: [] });
  const entries = buildModels(models, new Map([['sandbox', sandbox]]), report);
  return { findModel: buildModelFinder(entries), problems: report.problems };
}

describe('models', () => {
  test.each([
    [['a-*', 'a-1'], 'a-1', 'a-*', true],
    [['a-1', 'a-*'], 'a-1', 'a-1', false],
    [['*-x', 'a-*'], 'a-x', '*-x', false],
    [['a-*', '*-x'], 'a-x', 'a-*', false],
    [['a*', 'a-*-c'], 'a-b-c', 'a*', true],
    [['b*', 'a'], 'c', undefined, false],
  ])('of %j, %s is served by %s', (globs, name, expected, hasUnreached) => {
    const { findModel, problems } = build(toSettings(globs));

    expect(findModel(name)?.match).toBe(expected);
    expect(problems.some(({ message }) => message.startsWith('never reached'))).toBe(hasUnreached);
  });

  const here = { text: { phrases: ['Muster AG'] } };
  // biome-ignore format: a case a line
  test.each<[string, readonly object[], string | undefined]>([
    ['under the same conditions', [{ when: here }, { when: here }], 'models.1.match'],
    ['under further conditions', [{ when: here }, { when: { ...here, images: true } }], 'models.1.match'],
    ['above a larger size', [{ when: { input_tokens: { over: 1_000 } } }, { when: { input_tokens: { over: 150_000 } } }], 'models.1.match'],
    ['of fewer classes', [{ when: { class: ['c*'] } }, { when: { class: ['compaction'] } }], 'models.1.match'],
    ['that never hold', [{ when: { class: ['compaction'] }, unless: { class: ['*'] } }], 'models.0.unless'],
    ['above a smaller size', [{ when: { input_tokens: { over: 150_000 } } }, { when: { input_tokens: { over: 1_000 } } }], undefined],
    ['that others except', [{ when: here, unless: { images: true } }, { when: here }], undefined],
    ['of other names', [{ match: 'a-1', when: here }, { when: here }], undefined],
    ['that some names meet, and not all', [{ when: { tools: ['search'] }, unless: { tools: ['search'] } }], undefined],
  ])('tell of an entry that is never taken, with its place: %s', (_what, entries, place) => {
    const models = entries.map((entry) => ({ match: 'a-*', provider: 'sandbox', ...entry }));

    const { problems } = build(settingsSchema.parse({ models }).models ?? []);

    expect(problems.map(({ path, severity }) => [path.join('.'), severity])).toEqual(
      place === undefined ? [] : [[place, 'warning']],
    );
  });

  test.each([
    ['names', (at: number) => `model-${at}`],
    ['beginnings', (at: number) => `model-${at}-*`],
    ['ends', (at: number) => `*-${at}`],
    ['names with a star inside', (at: number) => `model-*-${at}`],
  ])('are built and looked up in time that is linear in their number: %s', (_what, toGlob) => {
    const settings = (count: number) => toSettings(Array.from({ length: count }, (_, at) => toGlob(at)));
    const use = (models: readonly ModelSettings[]) => {
      const { findModel } = build(models);
      for (const { match } of models) findModel(match.replace('*', 'x'));
    };
    const limit = 24;

    expect(growth(use, { small: settings(1_000), large: settings(8_000), limit })).toBeLessThan(limit);
  });
});
