import { dialects } from '../dialects/registry.ts';
import { parseStrictJson } from '../json/strict-json.ts';
import { conditionsOnText } from './compile-patterns.ts';
import type { Fold } from './fold/fold.ts';
import { PolicySet } from './policy-set.ts';
import type { Subject } from './rule.ts';
import type { CompiledRule } from './rules/compile-rule.ts';
import { evaluateRule } from './rules/evaluate.ts';
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
  const [first] = conditionsOnText(rule);
  if (tests === undefined || first === undefined) return [];
  const textual = {
    ...rule,
    appliesTo: ['request'],
    when: onTexts(rule.when),
    unless: onTexts(rule.unless),
  } as const;
  const set = new PolicySet({ policies: [], builtIn: [textual], fold });
  const run = (list: 'block' | 'allow') =>
    tests[list].map((text, index) => {
      const isMatched = evaluateRule(textual, set.facts(subjectWith(text, first.roles))) !== undefined;
      return { list, index, text, passed: isMatched === (list === 'block') };
    });
  return [...run('block'), ...run('allow')];
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
