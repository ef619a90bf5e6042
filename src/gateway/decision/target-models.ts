import { buildModelFinder, type ModelEntry } from '../../config/build/models.ts';
import { memoize } from '../../memoize.ts';
import { chooseTargets } from '../../providers/route.ts';

/** The configured models and providers as plain data, for the decision thread. */
export interface ModelNames {
  readonly models: readonly ModelEntry[];
  /** The names of the configured providers. */
  readonly providers: readonly string[];
}

/** Finds what a model is called at each provider that may be tried; empty if no provider serves it. */
export function createTargetModels({ models, providers }: ModelNames): (model: string) => readonly string[] {
  const findModel = buildModelFinder(models);
  const configured = new Map(providers.map((name) => [name, name]));
  return memoize((name) => {
    const entry = findModel(name);
    return entry === undefined ? [] : chooseTargets(entry, name, configured).map(({ model }) => model);
  });
}
