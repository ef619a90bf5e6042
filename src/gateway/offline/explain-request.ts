import type { JsonDocument } from '../../json/json-document.ts';
import { explain, type RuleExplanation, withOwnVerdicts } from '../../policy/explain.ts';
import { passedOver } from '../../policy/passed-over.ts';
import type { PolicySet } from '../../policy/policy-set.ts';
import { decideWith, type OfflineTarget, toOutcome } from './decide-offline.ts';
import type { PredictedDecision, Question } from './question.ts';

/** What each rule decides about a request: where it matched, never what. */
export interface ExplainReport extends PredictedDecision {
  readonly endpoint: string;
  readonly key: string;
  readonly project: string;
  readonly model?: string;
  readonly target_models?: readonly string[];
  /** Whether a configured provider serves the model; if none does, the gateway answers 404 or 503. */
  readonly served?: boolean;
  readonly rules: readonly RuleReport[];
  /** Microseconds for all rules together, which share one pass over the body. */
  readonly microseconds?: number;
  /** The request with what was masked or redacted; absent if nothing was. */
  readonly body?: unknown;
  /** What would be sent instead of the client's own bytes; places are pointers into that. */
  readonly outgoing?: readonly OutgoingReport[];
}

export interface OutgoingReport extends Partial<PredictedDecision> {
  /** The provider and the model's name there. */
  readonly target: string;
  readonly dialect: string;
  /** Members and headers that the model list sets or removes; absent if it changes nothing. */
  readonly changed?: readonly string[];
  /** Why the target can't take the request. */
  readonly unsupported?: string;
  /** What the target gets, if something was masked or redacted. */
  readonly body?: unknown;
  readonly rules: readonly RuleReport[];
}

export type RuleReport = Omit<RuleExplanation, 'failure'> & { readonly failed: boolean };

type Explanation = ReturnType<typeof explain>;

/** Decides as the gateway would, and reports what each rule decided. */
export async function explainRequest(question: Question): Promise<ExplainReport> {
  const { endpoint, key } = question;
  const about = { endpoint: endpoint.name, key: key.id, project: key.project };
  const { predicted, decided } = await decideWith(question, (subject) =>
    explain(key.policies, subject, nowUs),
  );
  if (decided === undefined) return { ...about, ...predicted, rules: [] };
  const { subject, found, decision, targets, isServed } = decided;
  const { redacted } = decision;
  const outgoing = targets.filter(({ kind, changed }) => kind !== 'own bytes' || changed.length > 0);
  return {
    ...about,
    model: subject.model,
    target_models: subject.targetModels,
    served: isServed,
    ...predicted,
    ...examplesIn(key.policies, subject.document),
    rules: withOwnVerdicts(found.rules, decision).map(toReport),
    microseconds: Math.round(found.microseconds),
    ...(redacted === undefined ? {} : { body: toValue(redacted) }),
    ...(outgoing.length === 0
      ? {}
      : { outgoing: outgoing.map((each) => reportTarget(each, redacted !== undefined)) }),
  };
}

/** For `Outcome.examples`; absent if there are none. */
export function examplesIn(policies: PolicySet, document: JsonDocument): Pick<PredictedDecision, 'examples'> {
  const examples = passedOver(policies, document);
  return examples.length === 0 ? {} : { examples };
}

function reportTarget(built: OfflineTarget<Explanation>, isReplaced: boolean): OutgoingReport {
  const { target, dialect, changed } = built;
  const to = { target, dialect, ...(changed.length > 0 && { changed }) };
  if (built.kind === 'own bytes') return { ...to, rules: [] };
  if (built.kind === 'unsupported') return { ...to, unsupported: built.reason, rules: [] };
  const { decision, rules } = built.found;
  const { redacted = isReplaced ? built.subject.document : undefined } = decision;
  const sent = redacted === undefined ? {} : { body: toValue(redacted) };
  return { ...to, ...toOutcome(decision), rules: rules.map(toReport), ...sent };
}

function toValue({ bytes }: JsonDocument): unknown {
  return JSON.parse(bytes.toString());
}

function toReport({ failure, ...rule }: RuleExplanation): RuleReport {
  return { ...rule, microseconds: Math.round(rule.microseconds), failed: failure !== undefined };
}

function nowUs(): number {
  return performance.now() * 1_000;
}
