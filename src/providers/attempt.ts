import { GatewayError } from '../errors.ts';
import type { ClientCredential } from './client-credential.ts';
import { retryAfterMs, retryWaitMs } from './retry.ts';
import type { Target } from './route.ts';
import type { ProviderAnswer, UpstreamFailure } from './upstream.ts';

declare const approved: unique symbol;

/**
 * What is sent to one target. The brand says that the policies have approved all of it. It is set in one place only
 * (gateway/outgoing/build-upstream-request.ts), so that nothing unchecked can be sent.
 */
export interface ProviderRequest {
  readonly [approved]: true;
  readonly path: string;
  /** Without the client's own credential. */
  readonly headers: string[];
  readonly body: Buffer;
  /** The client's own credential, for providers that take it. */
  readonly credential?: ClientCredential | undefined;
}

/** A request that has the head of its answer. */
export interface Forwarded<Request extends ProviderRequest = ProviderRequest> {
  readonly answer: ProviderAnswer;
  readonly target: Target;
  /** The request that was sent to the target. */
  readonly request: Request;
  /** How many requests were made, including the answered one. */
  readonly attempts: number;
  /** When the request began to leave, by `performance.now()`. */
  readonly leftAtMs: number;
  /** Must be called once when the answer has been read or abandoned: it releases the slot at the provider. */
  readonly release: () => void;
}

/** One request at one target, answered or not. */
export type Attempt<Request extends ProviderRequest = ProviderRequest> =
  | { readonly target: Target; readonly forwarded: Forwarded<Request> }
  | { readonly target: Target; readonly failure: UpstreamFailure };

/** Whether a fallback may be tried: the provider certainly did no work, or answered that it failed. */
export function mayFallBack(attempt: Attempt): boolean {
  if ('failure' in attempt) return !attempt.failure.wasSent;
  const { status } = attempt.forwarded.answer;
  return isRefusalForLoad(status) || status >= 500;
}

/** Milliseconds until the same target may be asked again; undefined if it may not. */
export function waitBeforeRetry(attempt: Attempt, tries: number): number | undefined {
  if (!mayRepeat(attempt)) return undefined;
  const retryAfter = 'forwarded' in attempt ? attempt.forwarded.answer.headers.get('retry-after') : undefined;
  const waitMs = retryWaitMs(retryAfter, tries, Math.random(), Date.now());
  if (waitMs === undefined || !attempt.target.provider.retryBudget.take(tries)) return undefined;
  return waitMs;
}

function mayRepeat(attempt: Attempt): boolean {
  if ('failure' in attempt) return !attempt.failure.wasSent;
  const { status, headers } = attempt.forwarded.answer;
  // The limits on a client's own login are for the client to wait for.
  if (status === 429 && attempt.target.provider.takesLogin) return false;
  return isRefusalForLoad(status) && headers.get('x-should-retry') !== 'false';
}

function isRefusalForLoad(status: number): boolean {
  return status === 429 || status === 503 || status === 529;
}

/** The answer, whatever its status; throws the failure if there is none. */
export function answerOf<Request extends ProviderRequest>(attempt: Attempt<Request>): Forwarded<Request> {
  if ('failure' in attempt) throw attempt.failure.error;
  return attempt.forwarded;
}

/** Abandons an answer that nobody will read, and releases its slot at the provider. */
export function discard(attempt: Attempt): void {
  if ('failure' in attempt) return;
  attempt.forwarded.answer.abort();
  attempt.forwarded.release();
}

/** The client's error if no other target could be tried after this attempt. */
export function failureOf(attempt: Attempt): GatewayError {
  if ('failure' in attempt) return attempt.failure.error;
  const { status, headers } = attempt.forwarded.answer;
  const message = `provider ${attempt.target.provider.options.name} answered with ${status}`;
  const waitMs = retryAfterMs(headers.get('retry-after') ?? '', Date.now());
  return new GatewayError(
    'provider.unavailable',
    message,
    waitMs === undefined ? {} : { retryAfterS: waitMs / 1_000 },
  );
}
