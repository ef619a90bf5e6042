import type { ModelEntry } from '../../config/build/models.ts';
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

export interface ModelCatalogue {
  readonly entries: readonly ModelEntry[];
  /** Every name that is known now; refreshes the providers' lists in the background. */
  list(): Promise<readonly ModelInfo[]>;
  /** One model by any name that would be served, listed or not. */
  find(id: string): ModelInfo | undefined;
}

interface CatalogueOptions {
  readonly entries: readonly ModelEntry[];
  readonly router: Router;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly startedMs: number;
}

interface Known {
  names: ReadonlyMap<string, number | undefined>;
  fetchedMs: number;
  pending: Promise<void> | undefined;
}

const freshMs = 5 * 60_000;
const fetchLimits = { timeoutMs: 10_000, limitBytes: 4 * 1024 * 1024 };
// Only the very first list waits for the providers, for at most this long, so that a new gateway does not look empty.
const firstWaitMs = 1_000;

/** The configured names, plus those that providers list and that match a configured glob. */
export function createCatalogue({ entries, router, providers, startedMs }: CatalogueOptions): ModelCatalogue {
  const startedS = Math.floor(startedMs / 1_000);
  const asked = new Set(entries.filter((entry) => entry.isPattern).map((entry) => entry.targets[0].provider));
  const known = new Map<string, Known>();
  for (const name of asked) known.set(name, { names: new Map(), fetchedMs: 0, pending: undefined });

  const refresh = (name: string, entry: Known): Promise<void> | undefined => {
    const provider = providers.get(name);
    if (provider === undefined || Date.now() - entry.fetchedMs < freshMs) return undefined;
    entry.pending ??= fetchNames(provider)
      .then((names) => {
        entry.names = names;
      })
      // A provider that is down keeps the names it had; the next call asks again.
      .catch(() => undefined)
      .finally(() => {
        entry.fetchedMs = Date.now();
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
    find: (id) => info(id, undefined)[0],
    list: async () => {
      const updates = [...known].map(([name, entry]) => ({
        isFirst: entry.fetchedMs === 0,
        done: refresh(name, entry),
      }));
      const first = updates.flatMap(({ isFirst, done }) => (isFirst && done !== undefined ? [done] : []));
      if (first.length > 0) await Promise.race([Promise.all(first), elapsed(firstWaitMs)]);
      const found = entries.flatMap((entry): ModelInfo[] => {
        if (!entry.isPattern) return info(entry.match, undefined);
        const names = [...(known.get(entry.targets[0].provider)?.names ?? [])];
        return names.flatMap(([id, createdS]) => info(id, createdS)).filter((model) => model.entry === entry);
      });
      return [...new Map(found.map((model) => [model.id, model])).values()];
    },
  };
}

async function fetchNames(provider: Provider): Promise<ReadonlyMap<string, number | undefined>> {
  const answer = (await fetchJson(provider, '/v1/models', fetchLimits)) as { data?: unknown } | null;
  const names = new Map<string, number | undefined>();
  for (const entry of Array.isArray(answer?.data) ? answer.data : []) {
    const { id, created, created_at } = Object(entry) as Record<string, unknown>;
    if (typeof id === 'string') names.set(id, createdSeconds(created, created_at));
  }
  return names;
}

function createdSeconds(created: unknown, createdAt: unknown): number | undefined {
  if (typeof created === 'number' && Number.isFinite(created)) return Math.floor(created);
  const parsed = typeof createdAt === 'string' ? Date.parse(createdAt) : Number.NaN;
  return Number.isNaN(parsed) ? undefined : Math.floor(parsed / 1_000);
}

function elapsed(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds).unref());
}
