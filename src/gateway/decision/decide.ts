import { GatewayError } from '../../errors.ts';
import type { Block } from '../../policy/rule.ts';
import { refuseLoginIn } from '../client-login.ts';
import type { Exchange } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { withBody, withoutHidden } from '../sender.ts';
import { type DecidedRequest, factsOf, type Incoming, toSubject } from './decide-request.ts';

/**
 * Parses a body strictly and applies the key's policies. Throws what strict parsing throws, and the refusal with the
 * rule's own reason, also for a body that contains the client's own credential. Nothing has left the machine yet.
 */
export async function decide(
  exchange: Exchange,
  { decider }: Pick<Gateway, 'decider'>,
  { body, endpoint, pathModel, key }: Omit<Incoming, 'nowMs'> & Pick<DecidedRequest, 'key'>,
): Promise<DecidedRequest> {
  const nowMs = exchange.startedMs;
  refuseLoginIn(exchange, [body]);
  const decided = await decider.decideRequest(
    key.policies,
    { body, endpoint, pathModel, key, nowMs },
    exchange.lifetime,
  );
  const { decision, request, microseconds } = decided;
  const { model, stream } = request;
  const targetModels = decider.targetModels(model);
  const facts = factsOf(request, { endpoint, key, targetModels, nowMs });
  // No record may have a text that a rule on texts refuses; a rule on models says nothing against the name itself.
  const isFound = (at: string, text: string) =>
    key.policies.evaluateValue({ at, text }, toSubject(facts, request.document, endpoint.dialect)).length > 0;
  const isHidden =
    decision.action === 'block' && (decision.failure !== undefined || isFound('/model', model));
  exchange.draft.note({ model: isHidden ? '' : model, stream });
  if (decision.failure === undefined) {
    exchange.sender = withBody(exchange.sender ?? {}, request.document, endpoint);
    noteSender(exchange, (id) => !key.policies.isKnownClean(id) && isFound('session', id));
  }
  exchange.draft.noteDecision(decision, microseconds);
  if (exchange.spans !== undefined) {
    const rules = decision.verdicts.map(({ rule }) => rule);
    exchange.spans.decided(decision.action, rules, microseconds);
  }
  if (decided.kind === 'blocked') throw blocked(decided.decision);
  return { request, endpoint, key, decision: decided.decision, facts, answerRules: decided.answerRules };
}

/** Records who sent the request, without ids that contain a secret or what a rule on texts looks for. */
function noteSender(
  { sender, scrubber, draft }: Pick<Exchange, 'sender' | 'scrubber' | 'draft'>,
  isFound: (id: string) => boolean,
): void {
  if (sender === undefined) return;
  draft.noteSender(withoutHidden(sender, (id) => scrubber.text(id) !== id || isFound(id)));
}

/** The refusal with the blocking rule's reason and message; what a rule threw goes into the record. */
export function blocked({
  refusal,
  failure,
  verdicts,
}: Pick<Block, 'refusal' | 'failure' | 'verdicts'>): GatewayError {
  const { reason, message, at } = refusal;
  // Anthropic's SDK then sends the whole conversation.
  const isThread = reason === 'content.stored_conversation' && at === '/thread';
  const found = verdicts
    .filter(({ action, mode }) => action === 'block' && mode === 'enforce')
    .flatMap(({ matches }) => matches.flatMap(({ detected = [] }) => detected));
  return new GatewayError('policy.blocked', message, {
    reason,
    detectors: [...new Set(found.map(({ detector }) => detector))],
    ...(isThread ? { errorCode: 'thread_unsupported_request' } : {}),
    ...(at === undefined ? {} : { param: at }),
    ...(failure === undefined ? {} : { cause: failure.cause }),
  });
}
