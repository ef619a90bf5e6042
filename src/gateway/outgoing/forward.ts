import { GatewayError } from '../../errors.ts';
import type { Lifetime } from '../../lib/lifetime.ts';
import {
  type Attempt,
  attempt,
  discard,
  type Forwarded,
  mayFallBack,
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
  /** The target has failed several times, and is left alone for a while. */
  | { readonly kind: 'resting'; readonly error: GatewayError };

/**
 * Sends a decided request to the first target that answers and waits for the head of its answer. It is sent again only if
 * the provider certainly did no work: no connection, or a refusal for load; never after bytes went out on a connection
 * that then broke, because that bills twice. The next target is tried on the same conditions and on any 5xx; if no other
 * can be, the client gets the last answer as it is. Those of another entry of the model list are tried only if no target
 * of the entry before can take the request at all. Throws the last failure, or why no target could be tried.
 */
export async function forward(exchange: Exchange, outgoing: Outgoing): Promise<Forwarded<UpstreamRequest>> {
  const [first, ...fallbacks] = outgoing.targets;
  let tried = await tryTarget(exchange, outgoing, { target: first, before: undefined });
  let { entry } = first;
  for (const target of fallbacks) {
    if (wasAsked(tried) && !mayFallBack(tried)) break;
    if (target.entry !== entry && tried.kind !== 'unfit') break;
    entry = target.entry;
    tried = await tryTarget(exchange, outgoing, { target, before: tried });
  }
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

/** Tries one target more; what came of those before it stands if this one can't be asked. */
async function tryTarget(
  exchange: Exchange,
  outgoing: Outgoing,
  { target, before }: { readonly target: Target; readonly before: Tried | undefined },
): Promise<Tried> {
  const last = before !== undefined && wasAsked(before) ? before : undefined;
  try {
    const built = await buildFor(exchange, outgoing, target);
    if (built instanceof GatewayError) return before ?? { kind: 'unfit', error: built };
    const waitMs = target.provider.health.admit(target.model, Date.now());
    if (waitMs > 0) {
      return before === undefined || before.kind === 'unfit'
        ? { kind: 'resting', error: unavailable(target, waitMs) }
        : before;
    }
    if (last !== undefined) discard(last);
    // Not of a target that is left alone: nothing leaves for it.
    noteFindings(exchange, built.findings);
    return await askTarget(target, built.request, exchange);
  } catch (error) {
    if (last !== undefined) discard(last);
    throw error;
  }
}

function wasAsked(tried: Tried): tried is Attempt<UpstreamRequest> {
  return tried.kind === 'answered' || tried.kind === 'failed';
}

/** The checked request for a target, or why the target can't take it; any other refusal ends the search. */
async function buildFor(
  exchange: Exchange,
  outgoing: Outgoing,
  target: Target,
): Promise<
  { readonly request: UpstreamRequest; readonly findings: readonly OutgoingFinding[] } | GatewayError
> {
  const check = new OutgoingCheck(outgoing.decided, exchange.scrubber);
  const { findings } = check;
  try {
    return { request: await buildUpstreamRequest(exchange, outgoing, { target, check }), findings };
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'request.unsupported') return error;
    noteFindings(exchange, findings);
    throw error;
  }
}

function noteFindings({ events }: Exchange, findings: readonly OutgoingFinding[]): void {
  if (findings.length > 0) events.checked(findings);
}

/** Asks one target, again where it surely did no work; resolves with the last outcome. Throws why the exchange ended. */
async function askTarget(
  target: Target,
  request: UpstreamRequest,
  exchange: Exchange,
): Promise<Attempt<UpstreamRequest>> {
  const { events, lifetime } = exchange;
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
    const waitMs = waitBeforeRetry(tried, tries);
    if (waitMs === undefined) return tried;
    discard(tried);
    await pause(waitMs, lifetime);
  }
}

function unavailable({ provider, model }: Target, waitMs: number): GatewayError {
  return new GatewayError(
    'provider.unavailable',
    `provider ${provider.options.name} failed several times in a row for ${model}; it is tried again shortly`,
    { retryAfterS: Math.max(1, waitMs / 1_000) },
  );
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
