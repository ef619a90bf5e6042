import { GatewayError } from '../../errors.ts';
import type { ResponseCheck } from '../../policy/answers/check-answer.ts';
import type { Decision } from '../../policy/rule.ts';
import type { Target } from '../../providers/route.ts';
import type { ModelEndpoint } from '../endpoints.ts';
import type { Exchange } from '../exchange.ts';
import type { GatewayKey } from '../gateway.ts';
import type { ModelRequest } from '../request.ts';
import type { Decider } from './decider.ts';
import type { Judgement } from './judge.ts';

interface Asked {
  readonly request: ModelRequest;
  readonly endpoint: ModelEndpoint;
  readonly key: GatewayKey;
  /** Where the model may go; its names there are checked too. Empty where nobody serves it. */
  readonly targets: readonly Target[];
  readonly decider: Decider;
}

export interface Decided {
  readonly decision: Decision;
  /** The request as it may leave: go on with this one. */
  readonly request: ModelRequest;
  /** The rules on the answer; undefined where there are none. */
  readonly check: ResponseCheck | undefined;
}

/**
 * Asks the key's policies; small requests at once, without a promise. Throws the refusal, with the rule's own
 * reason; nothing has left the machine yet.
 */
export function decide(
  exchange: Exchange,
  { request, endpoint, key, targets, decider }: Asked,
): Decided | Promise<Decided> {
  const startedAt = performance.now();
  const targetModels = targets.map((target) => target.model);
  const question = { request, endpoint, key, targetModels, nowMs: exchange.startedMs };
  const judgement = decider.judge(key.policies, question, exchange.lifetime);
  const conclude = ({ decision, request, answerRules }: Judgement): Decided => {
    exchange.draft.noteDecision(decision, Math.round((performance.now() - startedAt) * 1_000));
    if (decision.action === 'block') throw refusalOf(decision);
    return { decision, request, check: key.policies.checkAnswers(answerRules) };
  };
  return judgement instanceof Promise ? judgement.then(conclude) : conclude(judgement);
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
