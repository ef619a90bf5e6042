import { GatewayError } from '../../errors.ts';
import type { Lifetime } from '../../lib/lifetime.ts';
import { countKinds } from '../../policy/mask/masked-values.ts';
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
import { buildUpstreamRequest, type Outgoing, type UpstreamRequest } from './build-upstream-request.ts';

/**
 * Sends a decided request to the first target that answers and waits for the head of its answer. It is sent again only if
 * the provider certainly did no work: no connection, or a refusal for load; never after bytes went out on a connection
 * that then broke, because that bills twice. The next target is tried on the same conditions and on any 5xx; if no other
 * can be, the client gets the last answer as it is. Throws the last failure, or why no target could be tried.
 */
export async function forward(exchange: Exchange, outgoing: Outgoing): Promise<Forwarded<UpstreamRequest>> {
  exchange.trace?.admitted();
  let last: Attempt<UpstreamRequest> | undefined;
  let unfit: GatewayError | undefined;
  let resting: GatewayError | undefined;
  try {
    for (const target of outgoing.targets) {
      const request = await buildFor(exchange, outgoing, target);
      if (request instanceof GatewayError) {
        unfit ??= request;
        continue;
      }
      const waitMs = target.provider.health.admit(target.model, Date.now());
      if (waitMs > 0) {
        resting ??= unavailable(target, waitMs);
        continue;
      }
      if (last !== undefined) discard(last);
      last = await askTarget(target, request, exchange);
      if (!mayFallBack(last)) break;
    }
  } catch (error) {
    if (last !== undefined) discard(last);
    throw error;
  }
  if (last === undefined) throw resting ?? unfit;
  if ('failure' in last) throw last.failure.error;
  return last.forwarded;
}

/** The checked request for a target, or why the target can't take it; any other refusal ends the search. */
async function buildFor(
  ...request: Parameters<typeof buildUpstreamRequest>
): Promise<UpstreamRequest | GatewayError> {
  try {
    return await buildUpstreamRequest(...request);
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'request.unsupported') return error;
    throw error;
  }
}

/** Asks one target, again where it surely did no work; resolves with the last outcome. */
async function askTarget(
  target: Target,
  request: UpstreamRequest,
  exchange: Exchange,
): Promise<Attempt<UpstreamRequest>> {
  const { lifetime, trace } = exchange;
  target.provider.retryBudget.noteRequest();
  for (let tries = 1; ; tries += 1) {
    exchange.draft.noteTarget(target, request);
    const waiting = takeSlot(target, lifetime);
    if (waiting !== undefined) {
      await waiting;
      trace?.queued();
    }
    noteAttempt(exchange, target, request);
    const onAbandoned = () => exchange.outcome.noteSilence();
    const onAuthorized = (secrets: readonly string[]) => exchange.scrubAlso(secrets);
    const outcome = await attempt(target, request, { lifetime, onAbandoned, onAuthorized });
    noteOutcome(exchange, outcome);
    const waitMs = waitBeforeRetry(outcome, tries);
    if (waitMs === undefined) return outcome;
    discard(outcome);
    await pause(waitMs, lifetime);
  }
}

function noteAttempt(
  { draft, outcome, spans, trace }: Exchange,
  target: Target,
  request: UpstreamRequest,
): void {
  const { form, masked, path, headers, body } = request;
  const { provider, model } = target;
  const { name } = provider.options;
  outcome.noteAttempt(target);
  draft.noteAttempt();
  if (masked !== undefined) draft.note({ masked: countKinds(masked) });
  spans?.attempt({ provider: name, model }, headers);
  trace?.sending({ provider: name, model, form, path, headers }, body);
}

function noteOutcome({ outcome, spans }: Exchange, attempt: Attempt): void {
  if ('failure' in attempt) {
    outcome.noteFailure(attempt.failure);
    spans?.attemptEnded({ reason: attempt.failure.error.reason });
    return;
  }
  const { status } = attempt.forwarded.answer;
  outcome.noteStatus(status);
  spans?.attemptEnded({ status });
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
