import { fetchJson } from '../providers/fetch-json.ts';
import type { Provider } from '../providers/provider.ts';
import { isGlob, type ModelRoute, type Router } from '../providers/route.ts';

/** A line of the model list with what clients may want to know of it. */
export interface ModelLine extends ModelRoute {
  readonly contextWindow?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  /** US dollars per million tokens. */
  readonly pricing?: Readonly<Record<string, number | undefined>> | undefined;
}

/** A model by one of the names that requests may use. */
export interface ModelInfo {
  readonly id: string;
  readonly line: ModelLine;
  /** Seconds since 1970, as the provider says, else when the gateway started. */
  readonly createdS: number;
}

export interface ModelCatalogue {
  /** Every name that is known now; asks providers for news in the background. */
  list(): Promise<readonly ModelInfo[]>;
  /** One model by any name that would be served, listed or not. */
  find(id: string): ModelInfo | undefined;
}

interface CatalogueOptions {
  readonly lines: readonly ModelLine[];
  readonly router: Router<ModelLine>;
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
// The very first list may wait this long for the providers', so that a new gateway does not look empty.
const firstWaitMs = 1_000;

/** The configured names plus those that providers list and a glob lets through. */
export function createCatalogue({ lines, router, providers, startedMs }: CatalogueOptions): ModelCatalogue {
  const startedS = Math.floor(startedMs / 1_000);
  const asked = new Set(lines.filter((line) => isGlob(line.match)).map((line) => line.provider));
  const known = new Map<string, Known>();
  for (const name of asked) known.set(name, { names: new Map(), fetchedMs: 0, pending: undefined });

  const refresh = (name: string, entry: Known): Promise<void> | undefined => {
    const provider = providers.get(name);
    if (provider === undefined || Date.now() - entry.fetchedMs < freshMs) return undefined;
    entry.pending ??= fetchNames(provider)
      .then((names) => {
        entry.names = names;
      })
      // A provider that is down keeps the names it had; the next list asks again.
      .catch(() => undefined)
      .finally(() => {
        entry.fetchedMs = Date.now();
        entry.pending = undefined;
      });
    return entry.pending;
  };

  const info = (id: string, createdS: number | undefined): ModelInfo[] => {
    const line = router.resolve(id)?.entry;
    return line === undefined ? [] : [{ id, line, createdS: createdS ?? startedS }];
  };

  return {
    find: (id) => info(id, undefined)[0],
    list: async () => {
      const news = [...known].map(([name, entry]) => ({
        isFirst: entry.fetchedMs === 0,
        done: refresh(name, entry),
      }));
      const first = news.flatMap(({ isFirst, done }) => (isFirst && done !== undefined ? [done] : []));
      if (first.length > 0) await Promise.race([Promise.all(first), elapsed(firstWaitMs)]);
      const found = lines.flatMap((line): ModelInfo[] => {
        if (!isGlob(line.match)) return info(line.match, undefined);
        const names = [...(known.get(line.provider)?.names ?? [])];
        return names.flatMap(([id, createdS]) => info(id, createdS)).filter((model) => model.line === line);
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
