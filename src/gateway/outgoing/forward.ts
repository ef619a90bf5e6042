import { GatewayError } from '../../errors.ts';
import type { Lifetime } from '../../lib/lifetime.ts';
import {
  type Attempt,
  attempt,
  discard,
  type Forwarded,
  mayFallBack,
  mustMove,
  noteRest,
  takeSlot,
  waitBeforeRetry,
} from '../../providers/attempt.ts';
import type { Target } from '../../providers/route.ts';
import type { Exchange } from '../exchange.ts';
import type { OutgoingFinding } from '../subscriber.ts';
import { buildUpstreamRequest, type Outgoing, type UpstreamRequest } from './build-upstream-request.ts';
import { OutgoingCheck } from './outgoing-check.ts';

/** What became of the request at one target or several: the last attempt, or why none could be made. */
type Tried =
  | Attempt<UpstreamRequest>
  /** The target can't take the request. */
  | { readonly kind: 'unfit'; readonly error: GatewayError }
  /** The target has failed several times, asked to wait or refused the key, and is left alone for a while. */
  | { readonly kind: 'resting'; readonly waitMs: number; readonly error: GatewayError };

/** How long a session waits for its own target, whose prompt caches it has, before it moves. */
const stayMs = 5_000;

/**
 * Sends a decided request to the first target that answers and waits for the head of its answer. It is sent again only if
 * the provider certainly did no work: no connection, or a refusal for load; never after bytes went out on a connection
 * that then broke, because that bills twice. Among targets that share requests it moves on only if one has no capacity,
 * refuses its key, or is left alone. A fallback is tried on the conditions of a repetition and on any 5xx; if none can be,
 * the client gets the last answer as it is. Those of another entry of the model list are tried only if no target of the
 * entry before can take the request at all. Throws the last failure, or why no target could be tried.
 */
export function forward(exchange: Exchange, outgoing: Outgoing): Promise<Forwarded<UpstreamRequest>> {
  const { targets } = outgoing.routed;
  const trying =
    targets.length === 1
      ? tryTarget(exchange, outgoing, { target: targets[0], before: undefined })
      : tryEach(exchange, outgoing);
  return trying.then(toForwarded);
}

/** Tries one target after the other, as long as another one may be asked. */
async function tryEach(exchange: Exchange, outgoing: Outgoing): Promise<Tried> {
  const [first, ...others] = outgoing.routed.targets;
  let tried = await tryTarget(exchange, outgoing, { target: first, before: undefined });
  let previous = first;
  for (const target of others) {
    if (target.share !== undefined && target.share.group === previous.share?.group) {
      if (wasAsked(tried) && !mustMove(tried)) continue;
    } else {
      if (wasAsked(tried) && !mayFallBack(tried)) break;
      if (target.entry !== previous.entry && tried.kind !== 'unfit') break;
    }
    previous = target;
    tried = await tryTarget(exchange, outgoing, { target, before: tried });
  }
  return tried;
}

/** Throws why there is no answer. */
function toForwarded(tried: Tried): Forwarded<UpstreamRequest> {
  switch (tried.kind) {
    case 'answered':
      return tried.forwarded;
    case 'failed':
      throw tried.failure.error;
    case 'unfit':
    case 'resting':
      throw tried.error;
  }
}

/**
 * Tries one target more, again where it surely did no work; what came of those before it stands if this one can't be
 * asked. Throws why the exchange ended.
 */
async function tryTarget(
  exchange: Exchange,
  outgoing: Outgoing,
  { target, before }: { readonly target: Target; readonly before: Tried | undefined },
): Promise<Tried> {
  const { events, lifetime } = exchange;
  const last = before !== undefined && wasAsked(before) ? before : undefined;
  try {
    const building = buildFor(exchange, outgoing, target);
    const built = building instanceof Promise ? await building : building;
    if (built instanceof GatewayError) return before ?? { kind: 'unfit', error: built };
    const admitting = admitTo(target, exchange, outgoing);
    const waitMs = typeof admitting === 'number' ? admitting : await admitting;
    if (waitMs > 0) {
      const isFirst = before === undefined || before.kind === 'unfit';
      const isEarlier = before?.kind === 'resting' && waitMs < before.waitMs;
      return isFirst || isEarlier ? { kind: 'resting', waitMs, error: unavailable(target, waitMs) } : before;
    }
    if (last !== undefined) discard(last);
    // Not of a target that is left alone: nothing leaves for it.
    noteFindings(exchange, built.findings);
    const { request } = built;
    target.provider.retryBudget.noteRequest();
    for (let tries = 1; ; tries += 1) {
      events.targeted(target, request);
      const waiting = takeSlot(target, lifetime);
      if (waiting !== undefined) await waiting;
      events.sending({ target, request, hasWaited: waiting !== undefined });
      const tried = await attempt(target, request, lifetime);
      exchange.scrubAlso(tried.secrets);
      events.attemptEnded(tried);
      if (tried.kind === 'abandoned') throw tried.reason;
      if (mustMove(tried) && noteRest(tried, Date.now()) > stayMsOf(outgoing)) return tried;
      const retryMs = waitBeforeRetry(tried, tries);
      if (retryMs === undefined) return tried;
      discard(tried);
      await pause(retryMs, lifetime);
    }
  } catch (error) {
    if (last !== undefined) discard(last);
    throw error;
  }
}

/** Milliseconds for which the target is left alone; 0 if it may be asked now. A session waits a little for its own. */
function admitTo(
  { provider: { health }, model, share }: Target,
  { lifetime }: Exchange,
  outgoing: Outgoing,
): number | Promise<number> {
  const restMs = share === undefined ? 0 : health.restMs(model, Date.now());
  if (restMs > stayMsOf(outgoing)) return restMs;
  if (restMs > 0) return pause(restMs, lifetime).then(() => health.admit(model, Date.now()));
  return health.admit(model, Date.now());
}

/** Where there is no session there is no conversation that a prompt cache would know. */
function stayMsOf({ routed }: Outgoing): number {
  return routed.decided.meta.sender?.session === undefined ? 0 : stayMs;
}

function wasAsked(tried: Tried): tried is Attempt<UpstreamRequest> {
  return tried.kind === 'answered' || tried.kind === 'failed';
}

interface BuiltRequest {
  readonly request: UpstreamRequest;
  readonly findings: readonly OutgoingFinding[];
}

/** The checked request for a target, or why the target can't take it; any other refusal ends the search. */
function buildFor(
  exchange: Exchange,
  outgoing: Outgoing,
  target: Target,
): BuiltRequest | GatewayError | Promise<BuiltRequest | GatewayError> {
  const check = new OutgoingCheck(outgoing.routed.decided, exchange.scrubber);
  try {
    const request = buildUpstreamRequest(exchange, outgoing, { target, check });
    return request instanceof Promise
      ? request.then(
          (there) => ({ request: there, findings: check.findings }),
          (error) => unbuilt(exchange, check, error),
        )
      : { request, findings: check.findings };
  } catch (error) {
    return unbuilt(exchange, check, error);
  }
}

function unbuilt(exchange: Exchange, { findings }: OutgoingCheck, error: unknown): GatewayError {
  if (error instanceof GatewayError && error.code === 'request.unsupported') return error;
  noteFindings(exchange, findings);
  throw error;
}

function noteFindings({ events }: Exchange, findings: readonly OutgoingFinding[]): void {
  if (findings.length > 0) events.checked(findings);
}

function unavailable({ provider, model, share }: Target, waitMs: number): GatewayError {
  const { label, health } = provider;
  const nowMs = Date.now();
  const isResting = share !== undefined && health.restMs(model, nowMs) > health.waitMs(model, nowMs);
  const message = isResting
    ? `no target of ${model} is to be asked now; the first of them is provider ${label}, whose host ${health.restMs('', nowMs) > 0 ? 'refused its key' : 'asked to wait'}`
    : `provider ${label} failed several times in a row for ${model}; it is tried again shortly`;
  return new GatewayError('provider.unavailable', message, { retryAfterS: Math.max(1, waitMs / 1_000) });
}

function pause(waitMs: number, lifetime: Lifetime): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      forget();
      resolve();
    }, waitMs);
    const forget = lifetime.onEnd(() => {
      clearTimeout(timer);
      reject(lifetime.reason);
    });
  });
}
