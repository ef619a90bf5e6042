import { GatewayError } from '../../errors.ts';
import type { HeaderValue } from '../../policy/header-values.ts';
import type { PolicySet } from '../../policy/policy-set.ts';
import { type Block, refuses, type Subject } from '../../policy/rule.ts';
import { hasLogin, LoginRefusal } from '../authenticate.ts';
import type { Exchange } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import type { Scrubber } from '../scrub.ts';
import { isUnknown, type Sender, withBody, withoutHidden } from '../sender.ts';
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
  const { policies } = key;
  const isBlocked = decision.action === 'block';
  const subject = isBlocked || !isUnknown(whole) ? toSubject(meta, document, endpoint.dialect) : undefined;
  const isHidden = isBlocked && (isFailure || isFound(policies, { at: '/model', text: model }, subject));
  events.decided({
    decision,
    route,
    microseconds,
    body: document.bytes,
    model: isHidden ? '' : model,
    stream,
    sender: whole,
    shownSender: isFailure ? {} : shownOf(whole, { policies, scrubber, subject }),
  });
  if (decided.kind === 'blocked') throw blocked(decided.decision);
  const { answerRules } = decided;
  return { request, endpoint, key, login, decision: decided.decision, route, meta, answerRules };
}

interface Shown {
  readonly policies: PolicySet;
  readonly scrubber: Scrubber;
  /** Undefined if nothing is known of the sender. */
  readonly subject: Subject | undefined;
}

/** What records may have of the sender. */
function shownOf(sender: Sender, { policies, scrubber, subject }: Shown): Sender {
  if (subject === undefined) return sender;
  return withoutHidden(
    sender,
    (id) =>
      scrubber.text(id) !== id ||
      (!policies.isKnownClean(id) && isFound(policies, { at: 'session', text: id }, subject)),
  );
}

/** No record may have a text that a rule on texts refuses; a rule on models says nothing against the name itself. */
function isFound(policies: PolicySet, value: HeaderValue, subject: Subject | undefined): boolean {
  return subject !== undefined && policies.evaluateValue(value, subject).length > 0;
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
