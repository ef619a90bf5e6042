import { buildEntryFinder, type ModelEntry } from '../../config/build/models.ts';
import { memoize } from '../../lib/memoize.ts';
import { noRoute, type RoutePlan, targetsOf, toRoute } from '../../policy/routes.ts';

/** The configured models and providers as plain data, for the decision thread. */
export interface ModelNames {
  readonly models: readonly ModelEntry[];
  /** The names of the configured providers. */
  readonly providers: readonly string[];
}

/** Finds what is known of a model's route before a request is read. */
export function createRoutePlanner({ models, providers }: ModelNames): (model: string) => RoutePlan {
  const findEntries = buildEntryFinder(models);
  const configured = new Set(providers);
  return memoize((name) => {
    const candidates = findEntries(name).map((entry) => ({
      entry,
      targets: (models[entry]?.targets ?? []).flatMap(({ provider, model = name }, index) =>
        configured.has(provider) ? [{ entry, index, provider, model }] : [],
      ),
    }));
    const hasConditions = candidates.some(({ entry }) => models[entry]?.conditions !== undefined);
    const bounds = candidates.flatMap(({ entry }) => sizeBounds(models[entry]));
    return {
      candidates,
      fixed: hasConditions ? undefined : fixedRoute(candidates),
      sizeBound: bounds.length === 0 ? undefined : Math.min(...bounds),
    };
  });
}

/** In tokens. */
function sizeBounds(entry: ModelEntry | undefined): readonly number[] {
  const { when, unless } = entry?.conditions ?? {};
  return [when, unless].flatMap((side) => side?.input_tokens?.over ?? []);
}

function fixedRoute(candidates: RoutePlan['candidates']): RoutePlan['fixed'] {
  const [only] = candidates;
  if (only === undefined) return noRoute;
  const entries = [{ entry: only.entry, matches: [] }];
  return toRoute(entries, targetsOf(entries, candidates), { isChosen: false });
}
