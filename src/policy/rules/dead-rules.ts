import { isDeepStrictEqual } from 'node:util';
import { covers } from '../glob.ts';
import type { CompiledPolicy, CompiledRule, PolicyProblem } from './compile-rule.ts';
import type { ConditionsOptions } from './schema.ts';

/** Rules that can never matter: contradictions, and allow rules that a block always overrides. */
export function findDeadRules(policies: readonly CompiledPolicy[]): readonly PolicyProblem[] {
  const blocks = policies.flatMap(({ rules }) => rules.filter(isPlainBlock));
  return policies.flatMap(({ name, rules }) =>
    rules.flatMap((rule, index): readonly PolicyProblem[] => {
      const path = [name, 'rules', index];
      const { when, unless } = rule.options;
      if (when !== undefined && unless !== undefined && implies(when, unless)) {
        return [
          {
            path,
            message: 'this rule can never match: unless holds whenever when does',
            severity: 'warning',
          },
        ];
      }
      if (rule.action !== 'allow' || when === undefined) return [];
      const stronger = blocks.find((block) => implies(when, block.options.when ?? {}));
      if (stronger === undefined) return [];
      const message = `this allow rule is dead: rule ${stronger.id} of policy ${stronger.policy} blocks all that it allows`;
      return [{ path, message, severity: 'warning' }];
    }),
  );
}

function isPlainBlock(rule: CompiledRule): boolean {
  return (
    rule.action === 'block' &&
    rule.mode === 'enforce' &&
    rule.unless === undefined &&
    rule.except.length === 0
  );
}

/** Whether conditions hold whenever others do; "no" where that is hard to decide. */
function implies(narrow: ConditionsOptions, wide: ConditionsOptions): boolean {
  return Object.entries(wide).every(([name, options]) => {
    const own = narrow[name as keyof ConditionsOptions];
    if (own === undefined) return false;
    return isDeepStrictEqual(own, options) || impliesOne(own, options);
  });
}

function impliesOne(narrow: unknown, wide: unknown): boolean {
  if (Array.isArray(narrow) && Array.isArray(wide)) {
    return narrow.every((each) => wide.some((other) => covers(String(other), String(each))));
  }
  return isOver(narrow) && isOver(wide) && Object.keys(narrow).length === 1 && narrow.over >= wide.over;
}

function isOver(options: unknown): options is { readonly over: number } {
  return (
    typeof options === 'object' && options !== null && 'over' in options && typeof options.over === 'number'
  );
}
