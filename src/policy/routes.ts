import type { Match, Subject } from './rule.ts';
import type { RuleInputs } from './rule-inputs.ts';
import type { CompiledConditions } from './rules/compile-rule.ts';
import { evaluateConditions } from './rules/evaluate.ts';

/** A provider and the model's name there. Plain data, as all of this: it comes from the decision thread too. */
export interface RouteTarget {
  /** The number of the entry in the model list. */
  readonly entry: number;
  /** Its place among the targets of the entry. */
  readonly index: number;
  readonly provider: string;
  readonly model: string;
}

/** An entry of the model list that may serve a model. */
export interface Candidate {
  readonly entry: number;
  /** Those whose provider is configured. */
  readonly targets: readonly RouteTarget[];
}

/** An entry that serves a request, and where its conditions hold; an entry without conditions has no matches. */
export interface TakenEntry {
  readonly entry: number;
  readonly matches: readonly Match[];
}

type TargetNames = Required<Pick<Subject, 'targetModels' | 'providers'>>;

/** Where a request goes. */
export interface ChosenRoute extends TargetNames {
  /** In their order; the later ones only for what no target of those before can take. */
  readonly entries: readonly TakenEntry[];
  /** Those that may be tried, in their order. */
  readonly targets: readonly RouteTarget[];
  /** Whether conditions chose it: for other requests the same model may have another route. */
  readonly isChosen: boolean;
}

/** What is known of a model's route before a request is read. */
export interface RoutePlan {
  /** The entries that match the name, up to the first without conditions. */
  readonly candidates: readonly Candidate[];
  /** The route of every request, if no candidate has conditions. */
  readonly fixed: ChosenRoute | undefined;
  /** The smallest bound on the size that a condition of a candidate has, in tokens. */
  readonly sizeBound?: number | undefined;
}

/** No entry serves it. */
export const noRoute: ChosenRoute = {
  entries: [],
  targets: [],
  targetModels: [],
  providers: [],
  isChosen: false,
};

/**
 * The entries that serve a request: the first whose conditions hold, and the others with conditions that hold. One
 * without conditions is for what no condition claims: it never gets what another one could not send.
 */
export function takeEntries(
  candidates: readonly Candidate[],
  conditionsOf: (entry: number) => CompiledConditions | undefined,
  inputs: RuleInputs,
): readonly TakenEntry[] {
  const taken: TakenEntry[] = [];
  for (const { entry } of candidates) {
    const conditions = conditionsOf(entry);
    if (conditions === undefined) return taken.length > 0 ? taken : [{ entry, matches: [] }];
    const matches = evaluateConditions(conditions, inputs);
    if (matches !== undefined) taken.push({ entry, matches });
  }
  return taken;
}

/** The targets of the entries taken; none if the first has none: what is missing there is no reason to go elsewhere. */
export function targetsOf(
  entries: readonly TakenEntry[],
  candidates: readonly Candidate[],
): readonly RouteTarget[] {
  const [first, ...others] = entries.map(
    ({ entry }) => candidates.find((candidate) => candidate.entry === entry)?.targets ?? [],
  );
  return first === undefined || first.length === 0 ? [] : [...first, ...others.flat()];
}

export function toRoute(
  entries: readonly TakenEntry[],
  targets: readonly RouteTarget[],
  { isChosen }: Pick<ChosenRoute, 'isChosen'>,
): ChosenRoute {
  return {
    entries,
    targets,
    isChosen,
    targetModels: [...new Set(targets.map(({ model }) => model))],
    providers: [...new Set(targets.map(({ provider }) => provider))],
  };
}
