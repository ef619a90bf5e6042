import { checkPolicies } from './check-policies.ts';
import { CheckBook } from './checks/check-book.ts';
import type { Detector } from './detectors/detector.ts';
import type { DetectorName } from './detectors/names.ts';
import { detectors } from './detectors/registry.ts';
import { createFold } from './fold/fold.ts';
import { formsOfRules } from './mask/masking.ts';
import { Placeholders, placeholderException } from './mask/placeholders.ts';
import { PolicySet } from './policy-set.ts';
import { shareSearches } from './rule-inputs.ts';
import { createKeyDetector, createKeyRules } from './rules/built-in.ts';
import {
  type CompiledConditions,
  type CompiledPolicy,
  compileRoute,
  compileRule,
  defaultReason,
  type PolicyProblem,
  type RuleTools,
} from './rules/compile-rule.ts';
import type { PolicyOptions, RouteOptions } from './rules/schema.ts';

export type { PolicyProblem } from './rules/compile-rule.ts';

export interface CompiledPolicies {
  readonly problems: readonly PolicyProblem[];
  /** The policies of one key: those for all, its project's and its own, each once, in that order. */
  select(names: readonly string[]): PolicySet;
  /** What services say of texts; undefined if no rule and no route asks one. */
  readonly checks: CheckBook | undefined;
}

/** What policies are compiled from: plain data, so that another thread can compile its own. */
export interface PolicySource {
  readonly policies: Readonly<Record<string, PolicyOptions>>;
  readonly secrets: readonly string[];
  /** SHA-256 (hex) of each of the gateway's own keys, whose texts it may not have. */
  readonly keyHashes?: readonly string[];
  /** What placeholders are made with; needed if a rule masks. */
  readonly maskSecret?: string | undefined;
  /** The conditions of the entries of the model list, by their numbers; undefined for entries without. */
  readonly routes?: readonly (RouteOptions | undefined)[];
}

/**
 * Compiles every policy of a configuration. `secrets` are key values that must never leave in a request
 * (provider keys and plain project keys): always on, as a block, in every set, as are the gateway's own keys. `maskSecret`
 * is what placeholders are made with.
 */
export function compilePolicies(
  policies: PolicySource['policies'],
  secrets: readonly string[],
  {
    maskSecret = '',
    keyHashes = [],
    routes = [],
  }: Pick<PolicySource, 'maskSecret' | 'keyHashes' | 'routes'> = {},
): CompiledPolicies {
  const problems: PolicyProblem[] = [];
  const fold = createFold();
  const keyDetector = createKeyDetector(secrets);
  const detector = (name: DetectorName): Detector => (name === 'gateway_key' ? keyDetector : detectors[name]);
  const placeholders = placeholdersFor(policies, maskSecret);
  const book = new CheckBook();
  const tools: RuleTools = {
    fold,
    checks: book,
    labels: new Set(rulesOf(policies).map(({ reason = defaultReason }) => `[REDACTED:${reason}]`)),
    detector,
    exceptions: placeholders === undefined ? [] : [placeholderException(placeholders)],
  };
  const compiled = new Map<string, CompiledPolicy>();
  for (const [name, options] of Object.entries(policies)) {
    const rules = options.rules.map((rule, index) =>
      compileRule({ policy: name, options, rule, index }, tools, (problem) => problems.push(problem)),
    );
    compiled.set(name, { name, options, rules });
  }
  problems.push(...checkPolicies([...compiled.values()], fold));
  const builtIn = createKeyRules(secrets, keyHashes);
  const compiledRoutes = new Map<number, CompiledConditions>();
  for (const [entry, options] of routes.entries()) {
    if (options === undefined) continue;
    const route = compileRoute(options, tools, (path, message, severity = 'error') =>
      problems.push({ path: [entry, ...path], message, severity, kind: 'route' }),
    );
    compiledRoutes.set(entry, route);
  }
  const checks = book.services.length === 0 ? undefined : book;
  const searchFor = shareSearches(fold);
  const sets = new Map<string, PolicySet>();
  return {
    problems,
    checks,
    select(names) {
      const key = JSON.stringify(names);
      let set = sets.get(key);
      if (set === undefined) {
        const chosen = [...new Set(names)].flatMap((name) => compiled.get(name) ?? []);
        set = new PolicySet({
          policies: chosen,
          builtIn,
          fold,
          searchFor,
          placeholders,
          checks,
          routes: compiledRoutes,
        });
        sets.set(key, set);
      }
      return set;
    },
  };
}

function rulesOf(policies: PolicySource['policies']): PolicyOptions['rules'] {
  return Object.values(policies).flatMap((policy) => policy.rules);
}

/** Undefined if no rule masks: then nothing is excepted, and nothing costs anything. */
function placeholdersFor(policies: PolicySource['policies'], secret: string): Placeholders | undefined {
  const rules = rulesOf(policies);
  if (!rules.some(({ action }) => action === 'mask')) return undefined;
  return new Placeholders(secret, formsOfRules(rules));
}
