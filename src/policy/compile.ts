import type { ResponseCheck } from './answers/check-answer.ts';
import { checkPolicies } from './check-policies.ts';
import { detectors } from './detectors/registry.ts';
import { type Explanation, explain } from './explain.ts';
import { createFold } from './fold/fold.ts';
import type { HeaderValue } from './header-values.ts';
import type { Decision, Subject, Verdict } from './rule.ts';
import { RuleSet } from './rule-set.ts';
import { createKeyDetector, createKeyRule } from './rules/built-in.ts';
import { type CompiledPolicy, compileRule, type PolicyProblem } from './rules/compile-rule.ts';
import type { PolicyOptions } from './rules/schema.ts';

export type { PolicyProblem } from './rules/compile-rule.ts';

/** The policies that apply to one key, ready to decide. */
export interface PolicySet {
  readonly names: readonly string[];
  /** What the policies say to a request. Never throws. */
  decide(subject: Subject): Decision;
  /** Whether a text that leaves beside the body was judged before, and nothing was found in it. */
  isKnownClean(text: string): boolean;
  /** The verdicts on a text that leaves beside the body: a header's value, or the query's. */
  judgeValue(value: HeaderValue, subject: Subject): readonly Verdict[];
  /** The largest cap on output that no rule objects to, for a request that has none; Infinity where there is none. */
  capLimit(subject: Subject): number;
  /** Which rules apply to the answer to a request. Their numbers mean the same in another thread's copy of the set. */
  answerRules(subject: Subject): readonly number[];
  /** The rules on answers with these numbers; undefined where there are none: answers then cost nothing. */
  checkAnswers(numbers: readonly number[]): ResponseCheck | undefined;
  /** The decision on a request, rule by rule, with what each one alone takes; `now` gives microseconds. */
  explain(subject: Subject, now: () => number): Explanation;
}

export interface CompiledPolicies {
  readonly problems: readonly PolicyProblem[];
  /** The policies of one key: those for all, its project's and its own, each once, in that order. */
  select(names: readonly string[]): PolicySet;
}

/** What policies are compiled from: plain data, so that a thread can compile its own. */
export interface PolicySource {
  readonly policies: Readonly<Record<string, PolicyOptions>>;
  readonly secrets: readonly string[];
}

/**
 * Compiles every policy of a configuration. `secrets` are key values that must never leave in a request
 * (provider keys and plain project keys): always on, as a block, in every set.
 */
export function compilePolicies(
  policies: PolicySource['policies'],
  secrets: readonly string[],
): CompiledPolicies {
  const problems: PolicyProblem[] = [];
  const fold = createFold();
  const tools = { fold, detectors: { ...detectors, gateway_key: createKeyDetector(secrets) } };
  const compiled = new Map<string, CompiledPolicy>();
  for (const [name, options] of Object.entries(policies)) {
    const rules = options.rules.map((rule, index) =>
      compileRule({ policy: name, options, rule, index }, tools, (problem) => problems.push(problem)),
    );
    compiled.set(name, { name, options, rules });
  }
  problems.push(...checkPolicies([...compiled.values()], fold));
  const builtIn = [createKeyRule(tools)];
  const sets = new Map<string, PolicySet>();
  return {
    problems,
    select(names) {
      const chosen = [...new Set(names)].flatMap((name) => compiled.get(name) ?? []);
      const key = JSON.stringify(chosen.map(({ name }) => name));
      let set = sets.get(key);
      if (set === undefined) {
        set = createSet(new RuleSet({ policies: chosen, builtIn, fold }), chosen);
        sets.set(key, set);
      }
      return set;
    },
  };

  function createSet(rules: RuleSet, chosen: readonly CompiledPolicy[]): PolicySet {
    return {
      names: chosen.map(({ name }) => name),
      decide: (subject) => rules.decide(subject),
      isKnownClean: (text) => rules.isKnownClean(text),
      judgeValue: (value, subject) => rules.judgeValue(value, subject),
      capLimit: (subject) => rules.capLimit(subject),
      answerRules: (subject) => rules.answerRules(subject),
      checkAnswers: (numbers) => rules.checkAnswers(numbers),
      explain: (subject, now) => explain(rules, subject, { now, fold }),
    };
  }
}
