import { setTimeout as wait } from 'node:timers/promises';
import type { ModelEntry } from '../../config/build/models.ts';
import { toFields, toList, toText } from '../../dialects/fields.ts';
import { fetchJson } from '../../providers/fetch-json.ts';
import type { Provider } from '../../providers/provider.ts';
import type { Router } from '../../providers/route.ts';

/** A model by one of the names that requests may use. */
export interface ModelInfo {
  readonly id: string;
  readonly entry: ModelEntry;
  /** Seconds since 1970, from the provider, else when the gateway started. */
  readonly createdS: number;
}

export type ModelCatalogue = ReturnType<typeof createModelCatalogue>;

interface CatalogueOptions {
  readonly entries: readonly ModelEntry[];
  readonly router: Router;
  /** By their names, each with all of its keys. */
  readonly providers: ReadonlyMap<string, readonly Provider[]>;
  readonly startedMs: number;
  /** A monotonic clock, in milliseconds. */
  readonly clock?: () => number;
}

/** What a provider lists. */
interface Known {
  names: ReadonlyMap<string, number | undefined>;
  /** When it is to be fetched again, by the clock. */
  dueMs: number;
  pending: Promise<void> | undefined;
}

const freshMs = 5 * 60_000;
/** After a failure: a local provider is often started after the gateway. */
const retryMs = 5_000;
const fetchLimits = { timeoutMs: 10_000, limitBytes: 4 * 1024 * 1024 };
// A list waits only for providers without any known name, for at most this long, so that the gateway does not look empty.
const maxWaitMs = 1_000;

/** The configured names, plus those that providers list and that match a configured glob. */
export function createModelCatalogue({
  entries,
  router,
  providers,
  startedMs,
  clock = () => performance.now(),
}: CatalogueOptions) {
  const startedS = Math.floor(startedMs / 1_000);
  /** The provider that lists an entry's models: the first that is configured. */
  const listedAt = ({ targets }: ModelEntry): string =>
    (targets.find(({ provider }) => providers.has(provider)) ?? targets[0]).provider;
  const listing = new Set(
    entries
      .filter((entry) => entry.isPattern)
      .map(listedAt)
      // The gateway has no credentials for the others.
      .filter((name) => providers.get(name)?.some(({ takesLogin }) => takesLogin) !== true)
      .filter((name) => providers.get(name)?.some(({ listsModels }) => !listsModels) !== true),
  );
  const known = new Map<string, Known>();
  for (const name of listing) known.set(name, { names: new Map(), dueMs: 0, pending: undefined });

  const refresh = (name: string, entry: Known): Promise<void> | undefined => {
    const withKeys = providers.get(name);
    if (withKeys === undefined || clock() < entry.dueMs) return undefined;
    entry.pending ??= fetchNames(withKeys)
      .then((names) => {
        entry.names = names;
        entry.dueMs = clock() + freshMs;
      })
      .catch(() => {
        entry.dueMs = clock() + retryMs; // a provider that is down keeps the names it had
      })
      .finally(() => {
        entry.pending = undefined;
      });
    return entry.pending;
  };

  const info = (id: string, createdS: number | undefined): ModelInfo[] => {
    const entry = router.resolve(id)?.entry;
    return entry === undefined ? [] : [{ id, entry, createdS: createdS ?? startedS }];
  };

  return {
    entries,
    /** One model by any name that would be served, listed or not. */
    find: (id: string): ModelInfo | undefined => info(id, undefined)[0],
    /** Every name that is known now; refreshes the providers' lists in the background. */
    list: async (): Promise<readonly ModelInfo[]> => {
      const awaited = [...known].flatMap(([name, entry]) => {
        const refreshing = refresh(name, entry);
        return refreshing === undefined || entry.names.size > 0 ? [] : [refreshing];
      });
      if (awaited.length > 0)
        await Promise.race([Promise.all(awaited), wait(maxWaitMs, undefined, { ref: false })]);
      const found = entries.flatMap((entry): ModelInfo[] => {
        if (!entry.isPattern) return info(entry.match, undefined);
        const names = [...(known.get(listedAt(entry))?.names ?? [])];
        return names.flatMap(([id, createdS]) => info(id, createdS)).filter((model) => model.entry === entry);
      });
      return [...new Map(found.map((model) => [model.id, model])).values()];
    },
  };
}

/** By the first key that its host takes. Throws what the last one threw. */
async function fetchNames([provider, ...others]: readonly Provider[]): Promise<
  ReadonlyMap<string, number | undefined>
> {
  if (provider === undefined) return new Map();
  try {
    return await fetchNamesBy(provider);
  } catch (error) {
    if (others.length === 0) throw error;
    return await fetchNames(others);
  }
}

async function fetchNamesBy(provider: Provider): Promise<ReadonlyMap<string, number | undefined>> {
  // Google's list has 50 models on a page, unless more are asked for.
  const path = provider.options.dialect === 'gemini' ? '/v1beta/models?pageSize=1000' : '/v1/models';
  const answer = toFields(await fetchJson(provider, path, fetchLimits));
  const names = new Map<string, number | undefined>();
  for (const entry of toList(answer.data ?? answer.models)) {
    const { name, id = toText(name).replace(/^models\//, ''), created, created_at } = toFields(entry);
    if (typeof id === 'string' && id !== '') names.set(id, createdSeconds(created, created_at));
  }
  return names;
}

function createdSeconds(created: unknown, createdAt: unknown): number | undefined {
  if (typeof created === 'number') return isDate(created * 1_000) ? Math.floor(created) : undefined;
  const parsed = typeof createdAt === 'string' ? Date.parse(createdAt) : Number.NaN;
  return isDate(parsed) ? Math.floor(parsed / 1_000) : undefined;
}

function isDate(ms: number): boolean {
  return !Number.isNaN(new Date(ms).getTime());
}
