import { compilePatternSet } from './automaton/pattern-set.ts';
import type { NamedPattern } from './automaton/patterns.ts';
import type { Patterns } from './facts.ts';
import type { Fold } from './fold/fold.ts';
import type { CompiledRule } from './rules/compile-rule.ts';
import { Search } from './search/search.ts';

/** What is to be searched for together, each once. */
export function compilePatterns(given: readonly NamedPattern[], fold: Fold): Patterns {
  const patterns = [...new Map(given.map((each) => [each.key, each])).values()];
  const numbers = new Map(patterns.map(({ key }, number) => [key, number]));
  const patternSet = compilePatternSet(
    patterns.map(({ pattern }) => pattern),
    fold,
  );
  return { search: new Search(patternSet), numbers };
}

/** The patterns of all conditions of a rule. */
export function patternsIn(rule: CompiledRule): readonly NamedPattern[] {
  return conditionsOnText(rule).flatMap(({ patterns }) => patterns);
}

export function conditionsOnText(rule: CompiledRule) {
  return [...(rule.when ?? []), ...(rule.unless ?? [])].flatMap(({ text }) =>
    text === undefined ? [] : [text],
  );
}
