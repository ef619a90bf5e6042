import { compilePatternSet } from './automaton/pattern-set.ts';
import type { NamedPattern } from './automaton/patterns.ts';
import type { Patterns } from './facts.ts';
import type { Fold } from './fold/fold.ts';
import type { CompiledRule } from './rules/compile-rule.ts';
import { Search } from './search/search.ts';

export function compilePatterns(rules: readonly CompiledRule[], fold: Fold): Patterns {
  const patterns = collectPatterns(rules);
  const numbers = new Map(patterns.map(({ key }, number) => [key, number]));
  const patternSet = compilePatternSet(
    patterns.map(({ pattern }) => pattern),
    fold,
  );
  return { search: new Search(patternSet), numbers };
}

function collectPatterns(rules: readonly CompiledRule[]): readonly NamedPattern[] {
  const byKey = new Map<string, NamedPattern>();
  for (const rule of rules) {
    for (const { patterns } of conditionsOnText(rule)) for (const each of patterns) byKey.set(each.key, each);
  }
  return [...byKey.values()];
}

export function conditionsOnText(rule: CompiledRule) {
  return [...(rule.when ?? []), ...(rule.unless ?? [])].flatMap(({ text }) =>
    text === undefined ? [] : [text],
  );
}
