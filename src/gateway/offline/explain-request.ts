import type { JsonDocument } from '../../json/json-document.ts';
import { explain, type RuleExplanation } from '../../policy/explain.ts';
import type { Decision } from '../../policy/rule.ts';
import {
  type BuiltForTarget,
  buildForTargets,
  readOffline,
  toOutcome,
  toStricter,
} from './decide-offline.ts';
import type { Outcome, Question } from './question.ts';

/** What each rule decides about a request: where it matched, never what. */
export interface Report extends Outcome {
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

export interface OutgoingReport extends Partial<Outcome> {
  /** The provider and the model's name there. */
  readonly target: string;
  readonly dialect: string;
  /** Why the target can't take the request. */
  readonly unsupported?: string;
  /** What the target gets, if something was masked or redacted. */
  readonly body?: unknown;
  readonly rules: readonly RuleReport[];
}

export type RuleReport = Omit<RuleExplanation, 'failure'> & { readonly failed: boolean };

/** Decides as the gateway would, and reports what each rule decided. */
export function explainRequest(question: Question): Report {
  const { endpoint, key } = question;
  const about = { endpoint: endpoint.name, key: key.id, project: key.project };
  const read = readOffline(question);
  if (read.kind === 'refused') return { ...about, ...read.outcome, rules: [] };
  const { subject, targets } = read;
  const { decision, rules, microseconds } = explain(key.policies, subject, nowUs);
  const { redacted } = decision;
  const built = buildForTargets(question, read, decision).map((each) =>
    explainBuilt(each, { key, isReplaced: redacted !== undefined }),
  );
  // The gateway's decision is about the first target that takes the request.
  const first = built.find(({ kind }) => kind !== 'unsupported')?.decision;
  const outgoing = built.filter(({ kind }) => kind !== 'own bytes').map(({ report }) => report);
  return {
    ...about,
    model: subject.model,
    target_models: subject.targetModels,
    served: targets.length > 0,
    ...(first === undefined ? toOutcome(decision) : toStricter(decision, first)),
    rules: rules.map(toReport),
    microseconds: Math.round(microseconds),
    ...(redacted === undefined ? {} : { body: toValue(redacted) }),
    ...(outgoing.length === 0 ? {} : { outgoing }),
  };
}

interface ExplainedTarget {
  readonly kind: BuiltForTarget['kind'];
  readonly report: OutgoingReport;
  readonly decision?: Decision;
}

function explainBuilt(
  built: BuiltForTarget,
  { key: { policies }, isReplaced }: Pick<Question, 'key'> & { readonly isReplaced: boolean },
): ExplainedTarget {
  const { kind, target, dialect } = built;
  const about = { target, dialect };
  if (built.kind === 'own bytes') return { kind, report: { ...about, rules: [] } };
  if (built.kind === 'unsupported') {
    return { kind, report: { ...about, unsupported: built.reason, rules: [] } };
  }
  const { decision, rules } = explain(policies, built.subject, nowUs);
  const { redacted = isReplaced ? built.subject.document : undefined } = decision;
  const sent = redacted === undefined ? {} : { body: toValue(redacted) };
  return {
    kind,
    decision,
    report: { ...about, ...toOutcome(decision), rules: rules.map(toReport), ...sent },
  };
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
