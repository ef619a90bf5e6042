import { dialects } from '../dialects/registry.ts';
import { parseStrictJson } from '../json/strict-json.ts';
import { setLimit } from './automaton/patterns.ts';
import type { Fold } from './fold/fold.ts';
import { PolicySet } from './policy-set.ts';
import { refuses, replaces, type Subject } from './rule.ts';
import { shareSearches } from './rule-inputs.ts';
import {
  type CompiledPolicy,
  type CompiledRule,
  conditionsOnText,
  type PolicyProblem,
  patternsIn,
} from './rules/compile-rule.ts';
import { evaluateRule } from './rules/evaluate.ts';
import { excludesItself, implies } from './rules/implies.ts';
import { roleBits } from './traverse/place.ts';

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
  const finds = options.when?.text !== undefined || options.when?.check !== undefined;
  if (replaces(options.action) && !finds) {
    report(`${options.action} needs a text or check in when: there is nothing to replace`, 'error', 'action');
  }
  if (options.placeholder !== undefined && options.action !== 'mask') {
    report('placeholder is for rules that mask', 'error', 'placeholder');
  }
  if (options.action === 'mask' && options.apply_to.includes('response')) {
    report('mask is for requests: in answers the values are restored', 'error', 'apply_to');
  }
  if (options.except !== undefined && !finds) {
    report('except needs a text or check in when: there is nothing that it could exclude', 'error', 'except');
  }
  if (options.tests !== undefined && options.when?.text === undefined && options.unless?.text === undefined) {
    report('tests are texts, so they need a rule on texts', 'error', 'tests');
  }
  for (const side of ['when', 'unless'] as const) {
    if (options[side]?.check === undefined) continue;
    if (options.tests !== undefined) {
      report('tests are read when the file is, and no service is asked then', 'error', 'tests');
    }
    if (options.apply_to.includes('response')) {
      const message =
        'a rule with check is for requests: the pieces of a stream would have to wait for a service';
      report(message, 'error', 'apply_to');
    }
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
  return patternsIn(rule).reduce((sum, { pattern }) => {
    if (pattern.kind === 'phrase') return sum + pattern.text.length;
    if (pattern.kind === 'regex') return sum + pattern.exact.programSize();
    return sum;
  }, 0);
}

/** A rule's own tests: texts that its conditions on texts must match (`block`) or must not (`allow`), without its others. */
function failedTests(
  rule: CompiledRule,
  path: readonly (string | number)[],
  fold: Fold,
): readonly PolicyProblem[] {
  const { tests } = rule.options;
  const [first] = conditionsOnText(rule);
  const asks = rule.options.when?.check !== undefined || rule.options.unless?.check !== undefined;
  if (tests === undefined || first === undefined || asks) return [];
  const textual = {
    ...rule,
    appliesTo: ['request'],
    when: onTexts(rule.when),
    unless: onTexts(rule.unless),
  } as const;
  const set = new PolicySet({ policies: [], builtIn: [textual], fold, searchFor: shareSearches(fold) });
  const failed = (list: 'block' | 'allow', message: string) =>
    tests[list].flatMap((text, index): readonly PolicyProblem[] => {
      const isMatched = evaluateRule(textual, set.inputs(subjectWith(text, first.roles))) !== undefined;
      if (isMatched === (list === 'block')) return [];
      return [{ path: [...path, list, index], message, severity: 'error', kind: 'test' }];
    });
  return [
    ...failed('block', `rule ${rule.id} should match this text, but does not`),
    ...failed('allow', `rule ${rule.id} matches this text, but should not`),
  ];
}

/** Undefined if there are none. */
function onTexts(conditions: CompiledRule['when']): CompiledRule['when'] {
  const textual = conditions?.filter(({ text }) => text !== undefined);
  return textual?.length === 0 ? undefined : textual;
}

/** A request with the text in a place that a rule on texts of these roles looks at. */
function subjectWith(text: string, roles: number): Subject {
  return {
    document: parseStrictJson(Buffer.from(JSON.stringify(bodyWith(text, roles)))),
    dialect: dialects.messages,
    endpoint: 'messages',
    model: 'test',
    targetModels: [],
    stream: false,
    project: 'test',
    key: 'test',
    nowMs: 0,
  };
}

function bodyWith(text: string, roles: number): unknown {
  if ((roles & roleBits.user) !== 0) return { messages: [{ role: 'user', content: text }] };
  if ((roles & roleBits.assistant) !== 0) return { messages: [{ role: 'assistant', content: text }] };
  if ((roles & roleBits.system) !== 0) return { system: text };
  if ((roles & roleBits.tool_definition) !== 0) return { tools: [{ description: text }] };
  return { messages: [{ role: 'user', content: [{ type: 'tool_result', content: text }] }] };
}

/** Rules that can never matter: contradictions, and allow rules that a block always overrides. */
function findDeadRules(policies: readonly CompiledPolicy[]): readonly PolicyProblem[] {
  const blocks = policies.flatMap(({ rules }) => rules.filter(isPlainBlock));
  return policies.flatMap(({ name, rules }) =>
    rules.flatMap((rule, index): readonly PolicyProblem[] => {
      const path = [name, 'rules', index];
      const { when, unless } = rule.options;
      if (excludesItself({ when, unless })) {
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
    refuses(rule.action) && rule.mode === 'enforce' && rule.unless === undefined && rule.except.length === 0
  );
}
