import { GatewayError } from '../errors.ts';
import type { ResponseCheck } from '../policy/response.ts';
import type { Decision, Subject, Verdict } from '../policy/rule.ts';
import type { Target } from '../providers/route.ts';
import type { KnownKey } from './authenticate.ts';
import type { ModelEndpoint } from './endpoints.ts';
import type { Exchange } from './exchange.ts';
import type { GatewayKey } from './gateway.ts';
import type { ModelRequest } from './request.ts';

interface Question {
  readonly request: ModelRequest;
  readonly endpoint: ModelEndpoint;
  readonly key: GatewayKey;
  /** Where the model may go; its names there are checked too. Empty where nobody serves it. */
  readonly targets: readonly Target[];
}

export interface Decided {
  readonly decision: Decision;
  /** The rules on the answer; undefined where there are none. */
  readonly check: ResponseCheck | undefined;
}

/** Asks the key's policies. Throws the refusal, with the rule's own reason; nothing has left the machine yet. */
export function decide(exchange: Exchange, { request, endpoint, key, targets }: Question): Decided {
  const startedAt = performance.now();
  const targetModels = targets.map((target) => target.model);
  const subject = toSubject({ request, endpoint, key, targetModels, nowMs: exchange.startedMs });
  const decision = key.policies.decide(subject);
  note(exchange, decision, Math.round((performance.now() - startedAt) * 1_000));
  if (decision.action === 'block') throw refusalOf(decision);
  return { decision, check: key.policies.response(subject) };
}

interface SubjectParts {
  readonly request: ModelRequest;
  readonly endpoint: ModelEndpoint;
  readonly key: KnownKey;
  /** The model's names at the providers that may be tried. */
  readonly targetModels: readonly string[];
  readonly nowMs: number;
}

/** What the policies look at; the commands that try policies ask them the same way. */
export function toSubject({ request, endpoint, key, targetModels, nowMs }: SubjectParts): Subject {
  return {
    document: request.document,
    dialect: endpoint.dialect,
    endpoint: endpoint.dialectName,
    model: request.model,
    targetModels,
    stream: request.stream,
    project: key.project,
    key: key.id,
    nowMs,
  };
}

/** The refusal in the words of the rule that blocks; what a rule threw goes into the record. */
function refusalOf({ refusal, failure }: Decision): GatewayError {
  const { reason, message, at } = refusal ?? { reason: 'policy.error', message: 'the policy failed' };
  return new GatewayError('policy.blocked', message, {
    reason,
    ...(at === undefined ? {} : { param: at }),
    ...(failure === undefined ? {} : { cause: failure.cause }),
  });
}

function note({ draft }: Exchange, decision: Decision, microseconds: number): void {
  draft.decision = decision.action;
  draft.policy_us = microseconds;
  if (decision.unseen > 0) draft.unseen = decision.unseen;
  if (decision.wouldBlock.length > 0) draft.would_block = decision.wouldBlock;
  if (decision.verdicts.length === 0) return;
  draft.rules = decision.verdicts.map(toRecord);
}

/** Adds what the rules on the answer said to the record. */
export function noteAnswerVerdicts({ draft }: Exchange, verdicts: readonly Verdict[]): void {
  if (verdicts.length === 0) return;
  draft.rules = [
    ...(draft.rules ?? []),
    ...verdicts.map((verdict) => ({ ...toRecord(verdict), on: 'answer' as const })),
  ];
  const wouldBlock = verdicts.filter(
    ({ mode, action }) => mode === 'monitor' && (action === 'block' || action === 'redact'),
  );
  if (wouldBlock.length > 0)
    draft.would_block = [...(draft.would_block ?? []), ...wouldBlock.map(({ rule }) => rule)];
}

function toRecord({ rule, action, mode, matches }: Verdict) {
  return {
    id: rule,
    action,
    mode,
    ...(matches[0] === undefined ? {} : { at: matches[0].at }),
    count: matches.reduce((sum, match) => sum + match.count, 0),
  };
}
