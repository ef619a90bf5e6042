import { GatewayError } from '../../errors.ts';
import { type Block, refuses } from '../../policy/rule.ts';
import { hasLogin, LoginRefusal } from '../authenticate.ts';
import type { Exchange } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { type Sender, withBody, withoutHidden } from '../sender.ts';
import {
  type DecidedRequest,
  type Incoming,
  type RequestDecision,
  requestMeta,
  toSubject,
} from './decide-request.ts';

/** A client's request whose body is complete. */
type ReadRequest = Omit<Incoming, 'nowMs'> &
  Pick<DecidedRequest, 'key' | 'login'> & {
    /** Who sent it, as far as its head says. */
    readonly sender: Sender;
  };

/**
 * Parses a body strictly and applies the key's policies. Throws what strict parsing throws, and the refusal with the
 * rule's own reason, also for a body that contains the client's own credential. Nothing has left the machine yet.
 */
export function decide(
  exchange: Exchange,
  { decider }: Pick<Gateway, 'decider'>,
  read: ReadRequest,
): DecidedRequest | Promise<DecidedRequest> {
  const { body, endpoint, pathModel, key, login, sender } = read;
  if (hasLogin(login, [body])) throw new LoginRefusal();
  const incoming = { body, endpoint, pathModel, key, sender, nowMs: exchange.startedMs };
  const decided = decider.decideRequest(key.policies, incoming, exchange.lifetime);
  return decided instanceof Promise
    ? decided.then((there) => conclude(exchange, read, there))
    : conclude(exchange, read, decided);
}

/** Tells what was decided, and throws if that is a refusal. */
function conclude(
  { events, scrubber, startedMs: nowMs }: Exchange,
  { endpoint, key, login, sender }: ReadRequest,
  decided: RequestDecision,
): DecidedRequest {
  const { decision, request, route, microseconds } = decided;
  const { document, model, stream } = request;
  const isFailure = decision.failure !== undefined;
  const whole = isFailure ? sender : withBody(sender, document, endpoint);
  const meta = requestMeta(request, { endpoint, key, route, sender: whole, nowMs });
  // No record may have a text that a rule on texts refuses; a rule on models says nothing against the name itself.
  const isFound = (at: string, text: string) =>
    key.policies.evaluateValue({ at, text }, toSubject(meta, document, endpoint.dialect)).length > 0;
  const isHiddenId = (id: string) =>
    scrubber.text(id) !== id || (!key.policies.isKnownClean(id) && isFound('session', id));
  const isHidden = decision.action === 'block' && (isFailure || isFound('/model', model));
  events.decided({
    decision,
    route,
    microseconds,
    body: document.bytes,
    model: isHidden ? '' : model,
    stream,
    sender: whole,
    shownSender: isFailure ? {} : withoutHidden(whole, isHiddenId),
  });
  if (decided.kind === 'blocked') throw blocked(decided.decision);
  const { answerRules } = decided;
  return { request, endpoint, key, login, decision: decided.decision, route, meta, answerRules };
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
    .filter(({ action, mode }) => refuses(action) && mode === 'enforce')
    .flatMap(({ matches }) => matches.flatMap(({ detected = [] }) => detected));
  return new GatewayError('policy.blocked', message, {
    reason,
    detectors: [...new Set(found.map(({ detector }) => detector))],
    ...(isThread ? { errorCode: 'thread_unsupported_request' } : {}),
    ...(at === undefined ? {} : { param: at }),
    ...(failure === undefined ? {} : { cause: failure.cause }),
  });
}
