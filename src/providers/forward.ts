import { GatewayError } from '../errors.ts';
import type { Lifetime } from '../lifetime.ts';
import {
  type Attempt,
  answerOf,
  discard,
  type Forwarded,
  failureOf,
  mayFallBack,
  type ProviderRequest,
  waitBeforeRetry,
} from './attempt.ts';
import type { Provider } from './provider.ts';
import type { Target } from './route.ts';
import { type BuildRequest, type QueuedTarget, TargetQueue } from './target-queue.ts';
import { Upstream } from './upstream.ts';

export interface ForwardOptions<Request extends ProviderRequest> {
  readonly targets: readonly Target[];
  /**
   * Builds the request for a target. If it throws request.unsupported, the target is skipped; any other error ends the
   * search.
   */
  readonly build: BuildRequest<Request>;
  /** Called before every attempt. */
  readonly onAttempt: (target: Target, request: Request) => void;
  /** Called when an attempt had to wait for a slot at its provider, and got one. */
  readonly onSlot?: () => void;
  /** Called when an attempt has the head of its answer, or failed. */
  readonly onOutcome: (attempt: Attempt<Request>) => void;
  /** Called when the exchange ends while a provider works on its request and has not answered. */
  readonly onAbandoned: () => void;
  readonly lifetime: Lifetime;
}

/**
 * Sends a request to the first target that answers and waits for the head of its answer. It is sent again
 * only if the provider certainly did no work: no connection, or a refusal for load; never after bytes went
 * out on a connection that then broke, because that bills twice. The next target is tried on the same
 * conditions and on any 5xx. Throws the last failure.
 */
export async function forward<Request extends ProviderRequest>(
  options: ForwardOptions<Request>,
): Promise<Forwarded<Request>> {
  const queue = new TargetQueue(options.targets, options.build);
  let attempts = 0;
  let last: GatewayError | undefined;
  for (;;) {
    const taken = queue.take();
    const next = taken instanceof Promise ? await taken : taken;
    if (next === undefined) break;
    const { provider, model } = next.target;
    const waitMs = provider.health.admit(model, Date.now());
    if (waitMs > 0) {
      last ??= unavailable(next.target, waitMs);
      continue;
    }
    provider.retryBudget.noteRequest();
    for (let tries = 1; ; tries += 1) {
      attempts += 1;
      options.onAttempt(next.target, next.request);
      if (!provider.admission.tryEnter()) {
        await enter(next.target, options.lifetime);
        options.onSlot?.();
      }
      const attempt = await send(next, options, attempts);
      options.onOutcome(attempt);
      const step = mayFallBack(attempt) ? await nextStep(attempt, tries, queue) : 'finish';
      if (step === 'finish') return answerOf(attempt);
      discard(attempt);
      if (step === 'fall back') {
        last = failureOf(attempt);
        break;
      }
      await pause(step.waitMs, options.lifetime);
    }
  }
  throw last ?? queue.objection ?? noTarget();
}

/** Sends one request to one provider, once it has a slot; resolves with the head of the answer or the failure. */
function send<Request extends ProviderRequest>(
  { target, request }: QueuedTarget<Request>,
  { lifetime, onAbandoned }: Pick<ForwardOptions<Request>, 'lifetime' | 'onAbandoned'>,
  attempts: number,
): Promise<Attempt<Request>> {
  const { provider } = target;
  return new Promise((resolve, reject) => {
    let total: NodeJS.Timeout | undefined;
    let isReleased = false;
    const release = () => {
      if (isReleased) return;
      isReleased = true;
      // An answer that was not read to its end is abandoned with its slot; a no-op otherwise.
      upstream.abort();
      clearTimeout(total);
      forget();
      provider.admission.leave();
    };
    const upstream = new Upstream((failure) => {
      if (failure === undefined) provider.health.answered(target.model, upstream.status, Date.now());
      else provider.health.failed(target.model, Date.now());
      if (failure === undefined) {
        forget();
        resolve({
          target,
          forwarded: { answer: upstream, target, request, attempts, leftAtMs: upstream.leftAtMs, release },
        });
      } else {
        release();
        resolve({ target, failure });
      }
    });
    const giveUp = (reason: GatewayError | undefined) => {
      if (upstream.leftAtMs > 0) onAbandoned();
      upstream.abort();
      provider.health.abstained(target.model);
      release();
      reject(reason);
    };
    let forget: () => void = () => undefined;
    forget = lifetime.onEnd(() => giveUp(lifetime.reason));
    if (lifetime.reason !== undefined) return;
    total = setTimeout(() => lifetime.end(tooLong(provider)), provider.options.timeouts.totalMs);
    const { path, headers, body, credential } = request;
    const own = credential?.headerFor(provider.options) ?? [];
    const all = own.length === 0 ? headers : [...headers, ...own];
    provider.pool.send({ path, headers: all, body, method: 'POST' }, upstream);
  });
}

/** Waits for a slot at the provider; failing to get one says nothing about the provider's health. */
async function enter({ provider, model }: Target, lifetime: Lifetime): Promise<void> {
  try {
    await provider.admission.enter(lifetime);
  } catch (error) {
    // Otherwise the breaker would wait forever for the outcome of a probe that was never sent.
    provider.health.abstained(model);
    throw error;
  }
}

type Step = 'finish' | 'fall back' | { readonly waitMs: number };

/** Decides whether an attempt's outcome goes to the client, the same target is retried, or the next one is tried. */
async function nextStep<Request extends ProviderRequest>(
  attempt: Attempt<Request>,
  tries: number,
  queue: TargetQueue<Request>,
): Promise<Step> {
  try {
    const waitMs = waitBeforeRetry(attempt, tries);
    if (waitMs !== undefined) return { waitMs };
    return (await queue.hasMore()) ? 'fall back' : 'finish';
  } catch (error) {
    discard(attempt); // the next target's request could not be built, so nobody else will release this one
    throw error;
  }
}

function unavailable({ provider, model }: Target, waitMs: number): GatewayError {
  return new GatewayError(
    'provider.unavailable',
    `provider ${provider.options.name} failed several times in a row for ${model}; it is tried again shortly`,
    { retryAfterS: Math.max(1, waitMs / 1_000) },
  );
}

function noTarget(): GatewayError {
  return new GatewayError('provider.unavailable', 'no provider is configured for this model');
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
