import { GatewayError } from '../errors.ts';
import type { Lifetime } from '../http/lifetime.ts';
import type { Provider } from './provider.ts';
import { retryWaitMs } from './retry.ts';
import { type ProviderAnswer, Upstream, type UpstreamFailure } from './upstream.ts';

/** A provider and the name that the model has there. */
export interface Target {
  readonly provider: Provider;
  readonly model: string;
}

/** What one target is sent. */
export interface ProviderRequest {
  readonly path: string;
  readonly headers: string[];
  readonly body: Buffer;
}

export interface ForwardOptions {
  readonly targets: readonly Target[];
  /** Builds what goes to a target; it may throw request.unsupported for one that can't take it. */
  readonly build: (target: Target) => ProviderRequest;
  readonly lifetime: Lifetime;
}

export interface Forwarded {
  readonly answer: ProviderAnswer;
  readonly target: Target;
  /** Requests that were made, the answered one included. */
  readonly attempts: number;
  /** Must be called once when the answer has been read or given up: it frees the place at the provider. */
  readonly release: () => void;
}

type Attempt = { readonly forwarded: Forwarded } | { readonly failure: UpstreamFailure };

/**
 * Sends a request to the first target that answers and waits for the head of its answer. It is sent again
 * only where the provider surely did no work: no connection, or a refusal for load; never after bytes went
 * out on a connection that then broke, because that bills twice. The next target is tried on the same
 * conditions and on any 5xx. Throws the last failure.
 */
export async function forward(options: ForwardOptions): Promise<Forwarded> {
  let attempts = 0;
  let last: GatewayError | undefined;
  for (const [index, target] of options.targets.entries()) {
    const closedForMs = target.provider.breaker.admit(Date.now());
    if (closedForMs > 0) {
      last ??= unavailable(target, closedForMs);
      continue;
    }
    target.provider.retryBudget.noteRequest();
    for (let tries = 1; ; tries += 1) {
      attempts += 1;
      const attempt = await send(target, options, attempts);
      const isLastTarget = !options.targets.slice(index + 1).some(mayBeAsked);
      const verdict = judge(attempt, isLastTarget);
      if (verdict === 'keep' && 'forwarded' in attempt) return attempt.forwarded;
      if ('failure' in attempt) last = attempt.failure.error;
      if (verdict === 'keep') throw last;
      const waitMs = mayRepeat(attempt) ? waitBeforeRetry(attempt, target, tries) : undefined;
      if (waitMs === undefined) {
        if ('failure' in attempt) break;
        if (isLastTarget) return attempt.forwarded;
        last = new GatewayError(
          'provider.unavailable',
          `${target.provider.options.name} refused the request`,
        );
        discard(attempt.forwarded);
        break;
      }
      if ('forwarded' in attempt) discard(attempt.forwarded);
      await pause(waitMs, options.lifetime);
    }
  }
  throw last ?? new GatewayError('provider.unavailable', 'no provider is configured for this model');
}

/** One request at one provider; resolves with the head of the answer or with what went wrong. */
async function send(target: Target, options: ForwardOptions, attempts: number): Promise<Attempt> {
  const { provider } = target;
  const { lifetime } = options;
  const request = await prepare(target, options);
  return new Promise((resolve, reject) => {
    let total: NodeJS.Timeout | undefined;
    let isReleased = false;
    const release = () => {
      if (isReleased) return;
      isReleased = true;
      clearTimeout(total);
      forget();
      provider.admission.leave();
    };
    const upstream = new Upstream((failure) => {
      note(provider, failure, upstream.status);
      if (failure === undefined) {
        forget();
        resolve({ forwarded: { answer: upstream, target, attempts, release } });
      } else {
        release();
        resolve({ failure });
      }
    });
    const giveUp = (reason: GatewayError | undefined) => {
      upstream.abort();
      provider.breaker.abstained();
      release();
      reject(reason);
    };
    let forget: () => void = () => undefined;
    forget = lifetime.onEnd(() => giveUp(lifetime.reason));
    if (lifetime.reason !== undefined) return;
    total = setTimeout(() => lifetime.end(tooLong(provider)), provider.options.timeouts.totalMs);
    provider.pool.dispatch({ ...request, method: 'POST' }, upstream);
  });
}

/** Builds the request and takes a place for it; what prevents it says nothing about the provider's health. */
async function prepare(target: Target, { build, lifetime }: ForwardOptions): Promise<ProviderRequest> {
  const { provider } = target;
  try {
    const request = build(target);
    if (!provider.admission.tryEnter()) await provider.admission.enter(lifetime);
    if (lifetime.reason === undefined) return request;
    provider.admission.leave();
    throw lifetime.reason;
  } catch (error) {
    // Else a probe that never went out would keep the breaker waiting for its outcome for ever.
    provider.breaker.abstained();
    throw error;
  }
}

function mayBeAsked({ provider }: Target): boolean {
  return provider.breaker.wouldAdmit(Date.now());
}

/** Whether an attempt's outcome is the client's (`keep`) or reason to look further. */
function judge(attempt: Attempt, isLastTarget: boolean): 'keep' | 'look further' {
  if ('failure' in attempt) {
    return attempt.failure.wasSent ? 'keep' : 'look further';
  }
  const { status } = attempt.forwarded.answer;
  if (status === 429 || status === 503 || status === 529) return 'look further';
  return status >= 500 && !isLastTarget ? 'look further' : 'keep';
}

function mayRepeat(attempt: Attempt): boolean {
  if ('failure' in attempt) return !attempt.failure.wasSent;
  const { status, headers } = attempt.forwarded.answer;
  return (status === 429 || status === 503 || status === 529) && headers.get('x-should-retry') !== 'false';
}

function waitBeforeRetry(attempt: Attempt, { provider }: Target, tries: number): number | undefined {
  const asked = 'forwarded' in attempt ? attempt.forwarded.answer.headers.get('retry-after') : undefined;
  const waitMs = retryWaitMs(asked, tries, Math.random(), Date.now());
  if (waitMs === undefined || !provider.retryBudget.take(tries)) return undefined;
  return waitMs;
}

function note(provider: Provider, failure: UpstreamFailure | undefined, status: number): void {
  const isFailure = failure !== undefined || (status >= 500 && status !== 501);
  if (isFailure) provider.breaker.failed(Date.now());
  else provider.breaker.succeeded();
}

function discard({ answer, release }: Forwarded): void {
  answer.abort();
  release();
}

function unavailable({ provider }: Target, closedForMs: number): GatewayError {
  return new GatewayError(
    'provider.unavailable',
    `provider ${provider.options.name} failed several times in a row; it is tried again shortly`,
    { retryAfterS: Math.max(1, closedForMs / 1_000) },
  );
}

function tooLong(provider: Provider): GatewayError {
  const message = `the whole exchange took longer than ${provider.options.timeouts.totalMs} ms`;
  return new GatewayError('provider.timeout', message);
}

function pause(waitMs: number, lifetime: Lifetime): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      forget();
      resolve();
    }, waitMs);
    let forget: () => void = () => undefined;
    forget = lifetime.onEnd(() => {
      clearTimeout(timer);
      reject(lifetime.reason);
    });
  });
}
