import { dialects } from '../dialects/registry.ts';
import { parseStrictJson } from '../json/strict-json.ts';
import type { Fold } from './fold/fold.ts';
import { PolicySet } from './policy-set.ts';
import type { Subject } from './rule.ts';
import type { CompiledRule } from './rules/compile-rule.ts';
import { roleBits } from './traverse/place.ts';

/** One of a rule's own `tests`. */
export interface InlineTest {
  readonly list: 'block' | 'allow';
  readonly index: number;
  readonly text: string;
  readonly passed: boolean;
}

/**
 * Runs a rule's own tests: texts that its conditions on texts must match (`block`) or must not (`allow`).
 * Its other conditions are left out.
 */
export function runInlineTests(rule: CompiledRule, fold: Fold): readonly InlineTest[] {
  const { tests } = rule.options;
  if (tests === undefined || textSides(rule).length === 0) return [];
  const set = new PolicySet({ policies: [], builtIn: [{ ...rule, appliesTo: ['request'] }], fold });
  const run = (list: 'block' | 'allow') =>
    tests[list].map((text, index) => ({
      list,
      index,
      text,
      passed: matches(rule, set, text) === (list === 'block'),
    }));
  return [...run('block'), ...run('allow')];
}

function textSides(rule: CompiledRule) {
  return [...(rule.when ?? []), ...(rule.unless ?? [])].filter(({ text }) => text !== undefined);
}

function matches(rule: CompiledRule, set: PolicySet, text: string): boolean {
  const facts = set.facts(subjectWith(text, rule));
  const when = (rule.when ?? []).filter((condition) => condition.text !== undefined);
  const unless = (rule.unless ?? []).filter((condition) => condition.text !== undefined);
  return (
    when.every((condition) => condition.test(facts) !== undefined) &&
    (unless.length === 0 || unless.some((condition) => condition.test(facts) === undefined))
  );
}

/** A request with the text in a place that the rule looks at. */
function subjectWith(text: string, rule: CompiledRule): Subject {
  const roles = textSides(rule)[0]?.text?.roles ?? roleBits.user;
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
