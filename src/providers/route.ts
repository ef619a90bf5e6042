import type { ModelEntry, ModelTarget } from '../config/build/models.ts';
import type { FindKnownModel, KnownModel } from '../limits/known-models.ts';
import type { Provider } from './provider.ts';
import { type Share, shareOf } from './spread.ts';

/** A provider, with one of its keys, and the name that the model has there. */
export interface Target {
  readonly provider: Provider;
  readonly model: string;
  /** The entry of the model list that names it, and what is said of it there. */
  readonly entry: ModelEntry;
  readonly choice: ModelTarget;
  /** What is known of the model without the entry. */
  readonly known?: KnownModel | undefined;
  /** Set if it is one of several among which requests are spread. */
  readonly share?: Share | undefined;
}

/**
 * Where a requested model goes: the targets in the order in which they are tried, those among which requests are spread
 * in that of the file (`spread` orders them for a session), and the entry that is taken first.
 */
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
  readonly findKnown: FindKnownModel;
  /** By their names, each with all of its keys. */
  readonly providers: ReadonlyMap<string, readonly Provider[]>;
}

// Clients choose the names, so the cache is bounded.
const maxNames = 1_000;

/** Finds the providers of models and of requests. */
export function createModelRouter({ models, findModel, findKnown, providers }: RouterParts) {
  /** A target with each key of its provider; none if that is not configured. */
  const withKeys = (entry: ModelEntry, place: Chosen['targets'][number]): readonly Target[] => {
    const choice = entry.targets[place.index];
    if (choice === undefined) return [];
    const { model } = place;
    const known = findKnown(model);
    return (providers.get(place.provider) ?? []).map((provider) => {
      const share = shareOf(entry, { ...place, keyName: provider.options.keyName });
      return { provider, model, entry, choice, ...(known && { known }), ...(share && { share }) };
    });
  };
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
        targets: entry.targets.flatMap(({ provider, model = name }, index) =>
          withKeys(entry, { entry: models.indexOf(entry), index, provider, model }),
        ),
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
      const route = {
        entry,
        targets: chosen.targets.flatMap((place) => withKeys(models[place.entry] ?? entry, place)),
      };
      followed.set(chosen, route);
      return route;
    },
  };
}
