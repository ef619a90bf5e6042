import type { ModelEntry, ModelTarget } from '../config/build/models.ts';
import type { Provider } from './provider.ts';

/** A provider and the name that the model has there. */
export interface Target {
  readonly provider: Provider;
  readonly model: string;
  /** The entry of the model list that names it, and what is said of it there. */
  readonly entry: ModelEntry;
  readonly choice: ModelTarget;
}

/** Where a requested model goes: the targets in the order in which they are tried, and the entry that is taken first. */
export interface Route {
  readonly entry: ModelEntry;
  /** Those whose provider is configured. */
  readonly targets: readonly Target[];
}

/** Where one request goes, by the numbers and names that the configuration has. */
interface Chosen {
  readonly entries: readonly { readonly entry: number }[];
  readonly targets: readonly {
    readonly entry: number;
    readonly index: number;
    readonly provider: string;
    readonly model: string;
  }[];
}

export type Router = ReturnType<typeof createModelRouter>;

interface RouterParts {
  readonly models: readonly ModelEntry[];
  readonly findModel: (name: string) => ModelEntry | undefined;
  readonly providers: ReadonlyMap<string, Provider>;
}

// Clients choose the names, so the cache is bounded.
const maxNames = 1_000;

/** Finds the providers of models and of requests. */
export function createModelRouter({ models, findModel, providers }: RouterParts) {
  const known = new Map<string, Route | undefined>();
  // Where nothing depends on the request, all requests for a model have the same one.
  const followed = new WeakMap<Chosen, Route | undefined>();

  return {
    /** Where requests for a model go that no condition claims, memoized by name; undefined if no entry matches. */
    resolve: (name: string): Route | undefined => {
      if (known.has(name)) return known.get(name);
      if (known.size >= maxNames) known.clear();
      const entry = findModel(name);
      const route = entry && {
        entry,
        targets: chooseTargets(entry, name, providers).map(({ provider, model, index }) => ({
          ...{ provider, model, entry },
          choice: entry.targets[index] as ModelTarget, // it was chosen from these
        })),
      };
      known.set(name, route);
      return route;
    },
    /** Where a request goes; undefined if no entry takes it. */
    follow: (chosen: Chosen): Route | undefined => {
      const before = followed.get(chosen);
      if (before !== undefined) return before;
      const entry = models[chosen.entries[0]?.entry ?? -1];
      if (entry === undefined) return undefined;
      const targets = chosen.targets.flatMap(({ entry: number, index, provider: name, model }): Target[] => {
        const provider = providers.get(name);
        const own = models[number];
        const choice = own?.targets[index];
        if (provider === undefined || own === undefined || choice === undefined) return [];
        return [{ provider, model, entry: own, choice }];
      });
      const route = { entry, targets };
      followed.set(chosen, route);
      return route;
    },
  };
}

/** The targets of an entry whose providers are configured, each with the model's name there. */
export function chooseTargets<Configured>(
  entry: ModelEntry,
  name: string,
  providers: ReadonlyMap<string, Configured>,
): readonly { readonly provider: Configured; readonly model: string; readonly index: number }[] {
  return entry.targets.flatMap((choice, index) => {
    const provider = providers.get(choice.provider);
    return provider === undefined ? [] : [{ provider, model: choice.model ?? name, index }];
  });
}
