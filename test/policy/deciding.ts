import { type DialectName, dialects } from '../../src/dialects/registry.ts';
import { parseStrictJson } from '../../src/json/strict-json.ts';
import type { ResponseCheck } from '../../src/policy/answers/check-answer.ts';
import { type CompiledPolicies, compilePolicies } from '../../src/policy/compile.ts';
import type { Decision, Subject } from '../../src/policy/rule.ts';
import { policySchema } from '../../src/policy/rules/schema.ts';

/** What placeholders are made with. */
export const maskSecret = 'a secret of this installation';

/** Policies as the configuration would hand them over, from what a YAML file says. */
export function compile(
  policies: Readonly<Record<string, unknown>>,
  secrets: readonly string[] = [],
  keyHashes: readonly string[] = [],
): CompiledPolicies {
  const parsed = Object.entries(policies).map(
    ([name, options]) => [name, policySchema.parse(options)] as const,
  );
  return compilePolicies(Object.fromEntries(parsed), secrets, {
    maskSecret,
    keyHashes,
  });
}

/** One policy with these rules, compiled; fails the test where it has errors. */
export function policyOf(...rules: readonly unknown[]): (body: unknown, more?: Partial<Subject>) => Decision {
  return decider({ rules });
}

export function decider(options: unknown): (body: unknown, more?: Partial<Subject>) => Decision {
  const compiled = compile({ house: options });
  const errors = compiled.problems.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new Error(JSON.stringify(errors));
  const set = compiled.select(['house']);
  return (body, more) => set.decide(subjectOf(body, more));
}

export function subjectOf(body: unknown, more: Partial<Subject> = {}): Subject {
  const bytes = Buffer.isBuffer(body)
    ? body
    : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const endpoint: DialectName = more.endpoint ?? 'messages';
  return {
    document: parseStrictJson(bytes),
    dialect: dialects[endpoint],
    endpoint,
    model: 'sandbox-small',
    targetModels: [],
    stream: false,
    project: 'shop',
    key: 'shop-web',
    nowMs: Date.UTC(2026, 0, 7, 12, 0),
    ...more,
  };
}

/** What checks answers by one rule; undefined where it does not apply to them. */
export function answerCheckOf(rule: unknown, more: Partial<Subject> = {}): ResponseCheck | undefined {
  const set = compile({ house: { rules: [rule] } }).select(['house']);
  return set.checkAnswers(set.answerRules(subjectOf(saying('hi'), more)));
}

/** The same for a rule that does. */
export function answerCheck(rule: unknown): ResponseCheck {
  const check = answerCheckOf(rule);
  if (check === undefined) throw new Error('no rule applies to the answer');
  return check;
}

/** A request of one user turn. */
export function saying(content: unknown) {
  return { model: 'sandbox-small', max_tokens: 16, messages: [{ role: 'user', content }] };
}
