import { GatewayError } from '../errors.ts';
import type { Decision } from '../policy/rule.ts';
import type { Target } from '../providers/route.ts';
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

/** Asks the key's policies. Throws the refusal, with the rule's own reason; nothing has left the machine yet. */
export function decide(exchange: Exchange, { request, endpoint, key, targets }: Question): Decision {
  const startedAt = performance.now();
  const decision = key.policies.decide({
    document: request.document,
    dialect: endpoint.dialect,
    endpoint: endpoint.dialectName,
    model: request.model,
    targetModels: targets.map((target) => target.model),
    stream: request.stream,
    project: key.project,
    key: key.id,
    nowMs: exchange.startedMs,
  });
  note(exchange, decision, Math.round((performance.now() - startedAt) * 1_000));
  if (decision.action !== 'block') return decision;
  const { reason, message, at } = decision.refusal ?? {
    reason: 'policy.error',
    message: 'the policy failed',
  };
  throw new GatewayError('policy.blocked', message, { reason, ...(at === undefined ? {} : { param: at }) });
}

function note({ draft }: Exchange, decision: Decision, microseconds: number): void {
  draft.decision = decision.action;
  draft.policy_us = microseconds;
  if (decision.unseen > 0) draft.unseen = decision.unseen;
  if (decision.wouldBlock.length > 0) draft.would_block = decision.wouldBlock;
  if (decision.verdicts.length === 0) return;
  draft.rules = decision.verdicts.map(({ rule, action, mode, matches }) => ({
    id: rule,
    action,
    mode,
    ...(matches[0] === undefined ? {} : { at: matches[0].at }),
    count: matches.reduce((sum, match) => sum + match.count, 0),
  }));
}
