import type { ModelEntry } from '../config/build/models.ts';
import type { Provider } from './provider.ts';

/** A provider and the name that the model has there. */
export interface Target {
  readonly provider: Provider;
  readonly model: string;
}

/** Where a requested model goes: the targets in the order in which they are tried, and the matching entry. */
export interface Route {
  readonly entry: ModelEntry;
  /** Those whose provider is configured. */
  readonly targets: readonly Target[];
}

export type Router = ReturnType<typeof createRouter>;

// Clients choose the names, so the cache is bounded.
const maxNames = 1_000;

/** Resolves a model's targets, memoized by name. */
export function createRouter(
  findModel: (name: string) => ModelEntry | undefined,
  providers: ReadonlyMap<string, Provider>,
) {
  const known = new Map<string, Route | undefined>();

  return {
    /** Undefined if no entry matches. */
    resolve: (name: string): Route | undefined => {
      if (known.has(name)) return known.get(name);
      if (known.size >= maxNames) known.clear();
      const entry = findModel(name);
      const route = entry && { entry, targets: chooseTargets(entry, name, providers) };
      known.set(name, route);
      return route;
    },
  };
}

/** The targets of an entry whose providers are configured, each with the model's name there. */
export function chooseTargets<Configured>(
  entry: ModelEntry,
  name: string,
  providers: ReadonlyMap<string, Configured>,
): readonly { readonly provider: Configured; readonly model: string }[] {
  return entry.targets.flatMap((choice) => {
    const provider = providers.get(choice.provider);
    return provider === undefined ? [] : [{ provider, model: choice.model ?? name }];
  });
}
