import { setLimit } from './automaton/patterns.ts';
import type { Fold } from './fold/fold.ts';
import { runInlineTests } from './inline-tests.ts';
import { replaces } from './rule.ts';
import type { CompiledPolicy, CompiledRule, PolicyProblem } from './rules/compile-rule.ts';
import { findDeadRules } from './rules/dead-rules.ts';

/** Problems that show only when compiled rules are compared with each other. */
export function checkPolicies(policies: readonly CompiledPolicy[], fold: Fold): readonly PolicyProblem[] {
  return [
    ...findRepeatedIds(policies),
    ...policies.flatMap(({ name, rules }) =>
      rules.flatMap((rule, index) => checkRule(rule, [name, 'rules', index])),
    ),
    ...findLargeSets(policies),
    ...findDeadRules(policies),
    ...policies.flatMap(({ name, rules }) =>
      rules.flatMap((rule, index) => failedTests(rule, [name, 'rules', index, 'tests'], fold)),
    ),
  ];
}

function findRepeatedIds(policies: readonly CompiledPolicy[]): readonly PolicyProblem[] {
  const seen = new Map<string, string>();
  return policies.flatMap(({ name, rules }) =>
    rules.flatMap(({ id }, index) => {
      const before = seen.get(id);
      seen.set(id, before ?? name);
      if (before === undefined) return [];
      const message = `the id ${id} is already used in policy ${before}; answers and records tell rules apart by it`;
      return [{ path: [name, 'rules', index, 'id'], message, severity: 'error' as const }];
    }),
  );
}

function checkRule(rule: CompiledRule, path: readonly (string | number)[]): readonly PolicyProblem[] {
  const problems: PolicyProblem[] = [];
  const report = (message: string, severity: PolicyProblem['severity'], ...within: string[]) =>
    problems.push({ path: [...path, ...within], message, severity });
  const { options } = rule;
  if (replaces(options.action) && options.when?.text === undefined) {
    report(`${options.action} needs a text in when: there is nothing to replace`, 'error', 'action');
  }
  if (options.placeholder !== undefined && options.action !== 'mask') {
    report('placeholder is for rules that mask', 'error', 'placeholder');
  }
  if (options.action === 'mask' && options.apply_to.includes('response')) {
    report('mask is for requests: in answers the values are restored', 'error', 'apply_to');
  }
  if (options.except !== undefined && options.when?.text === undefined) {
    report('except needs a text in when: there is nothing that it could exclude', 'error', 'except');
  }
  if (options.tests !== undefined && options.when?.text === undefined && options.unless?.text === undefined) {
    report('tests are texts, so they need a rule on texts', 'error', 'tests');
  }
  if (options.apply_to.includes('response')) {
    if (options.when?.text === undefined) {
      report('only rules with a text in when apply to answers', 'error', 'apply_to');
    }
    if (options.unless?.text !== undefined) {
      report(
        'a rule on answers cannot have a text in unless: an answer is not known until it ends',
        'error',
        'unless',
        'text',
      );
    }
    if (options.when?.text?.in !== undefined && !options.when.text.in.includes('assistant')) {
      report(
        'this rule never matches an answer: the texts of answers have the role assistant',
        'warning',
        'apply_to',
      );
    }
  }
  return problems;
}

function findLargeSets(policies: readonly CompiledPolicy[]): readonly PolicyProblem[] {
  return policies.flatMap(({ name, rules }) => {
    const size = rules.reduce((sum, rule) => sum + sizeOf(rule), 0);
    if (size <= setLimit) return [];
    const message = `the texts of this policy are too large together: ${size} steps, at most ${setLimit}`;
    return [{ path: [name, 'rules'], message, severity: 'error' as const }];
  });
}

function sizeOf(rule: CompiledRule): number {
  const patterns = [...(rule.when ?? []), ...(rule.unless ?? [])].flatMap(({ text }) => text?.patterns ?? []);
  return patterns.reduce((sum, { pattern }) => {
    if (pattern.kind === 'phrase') return sum + pattern.text.length;
    if (pattern.kind === 'regex') return sum + pattern.exact.programSize();
    return sum;
  }, 0);
}

function failedTests(
  rule: CompiledRule,
  path: readonly (string | number)[],
  fold: Fold,
): readonly PolicyProblem[] {
  return runInlineTests(rule, fold)
    .filter(({ passed }) => !passed)
    .map(({ list, index }) => ({
      path: [...path, list, index],
      message:
        list === 'block'
          ? `rule ${rule.id} should match this text, but does not`
          : `rule ${rule.id} matches this text, but should not`,
      severity: 'error' as const,
      kind: 'test' as const,
    }));
}
