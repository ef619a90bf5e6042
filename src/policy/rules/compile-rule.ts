import type { NamedPattern } from '../automaton/patterns.ts';
import type { CheckBook } from '../checks/check-book.ts';
import type { Detector } from '../detectors/detector.ts';
import type { DetectorName } from '../detectors/names.ts';
import type { Fold } from '../fold/fold.ts';
import type { Condition, Matcher, MatcherContext } from '../matchers/matcher.ts';
import { type MatcherName, matchers } from '../matchers/registry.ts';
import { compilePatterns } from '../matchers/text.ts';
import type { Action } from '../rule.ts';
import type { ConditionsOptions, PolicyOptions, RouteOptions, RuleOptions } from './schema.ts';

/** Something wrong in a policy that the schema can't see; `path` leads to it within the policies. */
export interface PolicyProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly severity: 'error' | 'warning';
  /** `test`: one of a rule's own tests failed. `route`: its path is one within the model list. */
  readonly kind?: 'test' | 'route';
}

/** What must hold, and what must not. */
export interface CompiledConditions {
  /** Undefined: always. */
  readonly when: readonly Condition[] | undefined;
  readonly unless: readonly Condition[] | undefined;
}

export interface CompiledRule extends CompiledConditions {
  readonly policy: string;
  readonly id: string;
  readonly action: Action;
  readonly mode: 'enforce' | 'monitor';
  readonly reason: string;
  readonly message: string | undefined;
  readonly except: readonly NamedPattern[];
  readonly appliesTo: readonly ('request' | 'response')[];
  readonly options: RuleOptions;
}

/** One policy with its rules. */
export interface CompiledPolicy {
  readonly name: string;
  readonly options: PolicyOptions;
  readonly rules: readonly CompiledRule[];
}

export interface RuleSource {
  readonly policy: string;
  readonly options: PolicyOptions;
  readonly rule: RuleOptions;
  readonly index: number;
}

/** What all rules of a configuration are compiled with. */
export interface RuleTools {
  readonly fold: Fold;
  readonly checks: CheckBook;
  readonly labels: ReadonlySet<string>;
  detector(name: DetectorName): Detector;
  /** What no rule may judge, whatever its own exceptions are. */
  readonly exceptions?: readonly NamedPattern[];
}

/** Of a rule that names none. */
export const defaultReason = 'policy.blocked';

export type ProblemListener = (problem: PolicyProblem) => void;

/** Compiles one rule; what is wrong with it is reported with its path. */
export function compileRule(source: RuleSource, tools: RuleTools, report: ProblemListener): CompiledRule {
  const { policy, options, rule, index } = source;
  const path = [policy, 'rules', index];
  const problem =
    (...prefix: (string | number)[]): MatcherContext['problem'] =>
    (within, message, severity = 'error') =>
      report({ path: [...path, ...prefix, ...within], message, severity });
  const context = (quantifier: 'any' | 'all', except: readonly NamedPattern[], ...prefix: string[]) =>
    ({ ...tools, quantifier, except, problem: problem(...prefix) }) satisfies MatcherContext;
  const own =
    rule.except === undefined ? [] : compilePatterns(rule.except.text, context('any', [], 'except', 'text'));
  const except = [...own, ...(tools.exceptions ?? [])];
  const isAllow = rule.action === 'allow';
  const compileAll = (side: 'when' | 'unless', conditions: ConditionsOptions | undefined) =>
    conditions === undefined
      ? undefined
      : compileConditions(conditions, (name) =>
          context((side === 'when') === isAllow ? 'all' : 'any', side === 'when' ? except : [], side, name),
        );
  return {
    policy,
    id: rule.id,
    action: rule.action,
    mode: options.mode === 'monitor' ? 'monitor' : (rule.mode ?? 'enforce'),
    reason: rule.reason ?? defaultReason,
    message: rule.message,
    when: compileAll('when', rule.when),
    unless: compileAll('unless', rule.unless),
    except,
    appliesTo: rule.apply_to,
    options: rule,
  };
}

/**
 * Compiles the conditions of an entry of the model list, of which any match is enough for `when` and all are needed for
 * `unless`, as in a rule that refuses; what is wrong with them is reported with its path within the entry.
 */
export function compileRoute(
  { when, unless }: RouteOptions,
  { exceptions = [], ...tools }: RuleTools,
  report: MatcherContext['problem'],
): CompiledConditions {
  const compileAll = (side: 'when' | 'unless', conditions: ConditionsOptions | undefined) =>
    conditions &&
    compileConditions(conditions, (name) => ({
      ...tools,
      quantifier: side === 'when' ? 'any' : 'all',
      except: side === 'when' ? exceptions : [],
      problem: (within, message, severity) => report([side, name, ...within], message, severity),
    }));
  return { when: compileAll('when', when), unless: compileAll('unless', unless) };
}

function compileConditions(
  conditions: ConditionsOptions,
  contextFor: (name: MatcherName) => MatcherContext,
): readonly Condition[] {
  return (Object.keys(matchers) as MatcherName[]).flatMap((name) => {
    const options = conditions[name];
    if (options === undefined) return [];
    // Each matcher takes the options of its own schema; the compiler can't follow that through the loop.
    const matcher = matchers[name] as unknown as Matcher;
    return [matcher.compile(options, contextFor(name))];
  });
}

/** The patterns of all conditions of a rule or a route. */
export function patternsIn(rule: CompiledConditions): readonly NamedPattern[] {
  return conditionsOnText(rule).flatMap(({ patterns }) => patterns);
}

export function conditionsOnText(rule: CompiledConditions) {
  return [...(rule.when ?? []), ...(rule.unless ?? [])].flatMap(({ text }) =>
    text === undefined ? [] : [text],
  );
}
