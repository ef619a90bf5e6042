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
