import { GivenUp } from '../checkpoint.ts';
import type { Condition } from '../matchers/matcher.ts';
import type { Match, Verdict } from '../rule.ts';
import type { RuleInputs } from '../rule-inputs.ts';
import type { CompiledConditions, CompiledRule } from './compile-rule.ts';

/**
 * The verdict of one rule on a request; undefined if it doesn't apply. May throw what a matcher throws. Conditions
 * on texts look at `texts`, which are those of the request unless others are given.
 */
export function evaluateRule(rule: CompiledRule, inputs: RuleInputs, texts = inputs): Verdict | undefined {
  const matches = evaluateConditions(rule, inputs, texts);
  return matches && verdictOf(rule, matches);
}

/** Where conditions hold; undefined if they don't. */
export function evaluateConditions(
  { when, unless }: CompiledConditions,
  inputs: RuleInputs,
  texts = inputs,
): readonly Match[] | undefined {
  // Whoever is exempt whatever the texts are has none of them looked at, and no service asked about them.
  const isFirst = unless?.every(isTextFree) === true;
  if (isFirst && testAll(unless, inputs, texts) !== undefined) return undefined;
  const matches = when === undefined ? none : testAll(when, inputs, texts);
  if (matches === undefined) return undefined;
  if (!isFirst && unless !== undefined && testAll(unless, inputs, texts) !== undefined) return undefined;
  return matches.length > 0 ? matches : [{ at: '', matcher: 'unless', count: 1 }];
}

const none: readonly Match[] = [];

function isTextFree({ text }: Condition): boolean {
  return text === undefined;
}

export function verdictOf(rule: CompiledRule, matches: readonly Match[]): Verdict {
  const { policy, id, action, mode, reason, message } = rule;
  return { policy, rule: id, action, mode, reason, ...(message === undefined ? {} : { message }), matches };
}

/** The matches of all conditions together, those on texts first; undefined unless all hold. */
function testAll(
  conditions: readonly Condition[],
  inputs: RuleInputs,
  texts: RuleInputs,
): readonly Match[] | undefined {
  let matches = none;
  for (const condition of conditions) {
    const found = condition.test(condition.text === undefined ? inputs : texts);
    if (found === undefined) return undefined;
    matches = matches.length === 0 ? found : [...found, ...matches];
  }
  return matches;
}

/** Whether a rule objects to large caps on output. */
export function isOnCaps({ action, options }: CompiledRule): boolean {
  return action !== 'allow' && options.when?.max_output_tokens !== undefined;
}

/** The smallest `over` of the rules that would apply to the request if its cap were unlimited; undefined if none would. */
export function capLimit(rules: readonly CompiledRule[], inputs: RuleInputs): number | undefined {
  let limit: number | undefined;
  let unbounded: RuleInputs | undefined;
  for (const rule of rules) {
    const over = rule.options.when?.max_output_tokens?.over;
    if (over === undefined || (limit !== undefined && over >= limit)) continue;
    if (!isOnCapsAlone(rule)) {
      unbounded ??= unboundedOf(inputs);
      if (!mayApply(rule, unbounded)) continue;
    }
    limit = over;
  }
  return limit;
}

/** An unlimited cap meets its one condition. */
function isOnCapsAlone({ when, unless }: CompiledRule): boolean {
  return when?.length === 1 && unless === undefined;
}

function unboundedOf(inputs: RuleInputs): RuleInputs {
  const { root } = inputs.subject.document;
  return inputs.withCaps([{ entry: root, tokens: Number.POSITIVE_INFINITY, isOwn: true }]);
}

function mayApply(rule: CompiledRule, inputs: RuleInputs): boolean {
  try {
    return evaluateRule(rule, inputs) !== undefined;
  } catch (cause) {
    if (cause instanceof GivenUp) throw cause;
    // What can't be evaluated counts as a rule that applies.
    return true;
  }
}
