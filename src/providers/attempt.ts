import { GatewayError } from '../errors.ts';
import type { EndListener, Lifetime } from '../lib/lifetime.ts';
import type { ClientCredential } from './client-credential.ts';
import { type Authorizer, authorized } from './credentials/authorizer.ts';
import type { Provider } from './provider.ts';
import { requestedWaitMs, retryWaitMs, withMeantStatus, withRetryAfter } from './retry.ts';
import type { Target } from './route.ts';
import { type HostRequest, type ProviderAnswer, Upstream, type UpstreamFailure } from './transport/pool.ts';

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
  /** When the request began to leave, by `performance.now()`. */
  readonly sentAtMs: number;
  /** Must be called when the answer has been read or is not wanted: it abandons what is unread, and releases the slot. */
  release(): void;
}

/** One request at one target, answered or not. */
export type Attempt<Request extends ProviderRequest = ProviderRequest> =
  | AnsweredAttempt<Request>
  | (AttemptBase & { readonly kind: 'failed'; readonly failure: UpstreamFailure });

type AnsweredAttempt<Request extends ProviderRequest = ProviderRequest> = AttemptBase & {
  readonly kind: 'answered';
  readonly forwarded: Forwarded<Request>;
};

/** The exchange ended while the provider had not answered. */
export interface AbandonedAttempt extends AttemptBase {
  readonly kind: 'abandoned';
  readonly reason: GatewayError;
  /** Whether the provider may work on the request. */
  readonly wasSent: boolean;
}

interface AttemptBase {
  readonly target: Target;
  /** What the request was authorized with: it must not be seen anywhere else. */
  readonly secrets: readonly string[];
}

const noSecrets: readonly string[] = [];

/**
 * Sends one request to one provider, whose slot the caller has taken with `takeSlot`; resolves with the head of the
 * answer, with the failure, or when the lifetime ends. Never rejects.
 */
export function attempt<Request extends ProviderRequest>(
  target: Target,
  request: Request,
  lifetime: Lifetime,
): Promise<Attempt<Request> | AbandonedAttempt> {
  return new Promise((resolve) => new OpenAttempt(target, { request, lifetime }, resolve).start());
}

interface AttemptParts<Request extends ProviderRequest> {
  readonly request: Request;
  readonly lifetime: Lifetime;
}

/** An attempt until its answer has been read: one object, as every request has one. */
class OpenAttempt<Request extends ProviderRequest> implements Forwarded<Request>, EndListener {
  readonly target: Target;
  readonly request: Request;
  answer: ProviderAnswer;
  readonly #upstream: Upstream;
  readonly #lifetime: Lifetime;
  readonly #resolve: (attempt: Attempt<Request> | AbandonedAttempt) => void;
  #secrets = noSecrets;
  #total: NodeJS.Timeout | undefined;
  #isReleased = false;

  constructor(
    target: Target,
    { request, lifetime }: AttemptParts<Request>,
    resolve: (attempt: Attempt<Request> | AbandonedAttempt) => void,
  ) {
    this.target = target;
    this.request = request;
    this.#lifetime = lifetime;
    this.#resolve = resolve;
    this.#upstream = new Upstream((failure) => this.#settled(failure));
    this.answer = this.#upstream;
  }

  get sentAtMs(): number {
    return this.#upstream.sentAtMs;
  }

  start(): void {
    const { provider } = this.target;
    const lifetime = this.#lifetime;
    lifetime.add(this);
    if (lifetime.reason !== undefined) return;
    this.#total = setTimeout(() => lifetime.end(tooLong(provider)), provider.options.timeouts.totalMs);
    const { path, headers, body, credential } = this.request;
    const own = credential?.headerFor(provider.options);
    const outgoing: HostRequest = {
      path,
      headers: own === undefined ? headers : [...headers, ...own],
      body,
      method: 'POST',
    };
    if (provider.authorizer === undefined) provider.pool.send(outgoing, this.#upstream);
    else this.#sendAuthorized(outgoing, provider.authorizer);
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    // An answer that was not read to its end is abandoned with its slot; a no-op otherwise.
    this.#upstream.abort();
    clearTimeout(this.#total);
    this.#lifetime.remove(this);
    this.target.provider.admission.leave();
  }

  lifetimeEnded(reason: GatewayError): void {
    const wasSent = this.#upstream.sentAtMs > 0;
    this.#upstream.abort();
    this.target.provider.health.abstained(this.target.model);
    this.#abandon(reason, wasSent);
  }

  #sendAuthorized(outgoing: HostRequest, authorizer: Authorizer): void {
    const { provider, model } = this.target;
    const refuse = (error: unknown) => {
      if (this.#isReleased) return;
      provider.health.abstained(model);
      this.#fail({ error: error as GatewayError, wasSent: false }); // as it says
    };
    authorized(authorizer, outgoing).then(({ secrets, headers }) => {
      if (this.#isReleased) return;
      this.#secrets = secrets;
      provider.pool.send({ ...outgoing, headers: [...outgoing.headers, ...headers] }, this.#upstream);
    }, refuse);
  }

  /** The head is here, or why there is none. */
  #settled(failure: UpstreamFailure | undefined): void {
    const { provider, model } = this.target;
    const upstream = this.#upstream;
    if (failure !== undefined) {
      provider.health.failed(model, Date.now());
      return this.#fail(failure);
    }
    provider.health.answered(model, upstream.status, Date.now());
    this.#lifetime.remove(this);
    const isOfKey = upstream.status === 401 && provider.authorizer === undefined && !provider.takesLogin;
    if (!isOfKey && !isRefusalForLoad(upstream.status)) return this.#answered(upstream);
    const read = isOfKey ? withMeantStatus : withRetryAfter;
    read(upstream, this.#lifetime).then(
      (answer) => this.#answered(answer),
      (reason) => this.#abandon(reason, false),
    );
  }

  #answered(answer: ProviderAnswer): void {
    this.answer = answer;
    this.#resolve({ kind: 'answered', target: this.target, secrets: this.#secrets, forwarded: this });
  }

  #fail(failure: UpstreamFailure): void {
    this.release();
    this.#resolve({ kind: 'failed', target: this.target, secrets: this.#secrets, failure });
  }

  #abandon(reason: GatewayError, wasSent: boolean): void {
    this.release();
    this.#resolve({ kind: 'abandoned', target: this.target, secrets: this.#secrets, reason, wasSent });
  }
}

/**
 * Waits for a slot at the provider; undefined if one is free at once. Rejects with gateway.overloaded, or with the
 * lifetime's reason; neither says anything about the provider's health.
 */
export function takeSlot({ provider, model }: Target, lifetime: Lifetime): Promise<void> | undefined {
  if (provider.admission.tryEnter()) return undefined;
  return provider.admission.enter(lifetime).catch((error: unknown) => {
    // Otherwise the breaker would wait forever for the outcome of a probe that was never sent.
    provider.health.abstained(model);
    throw error;
  });
}

/** Whether a fallback may be tried: the provider certainly did no work, or answered that it failed. */
export function mayFallBack(attempt: Attempt): boolean {
  if (attempt.kind === 'failed') return !attempt.failure.wasSent;
  const { answer, target } = attempt.forwarded;
  // Bedrock's for a model that failed.
  const isModelFailure = answer.status === 424 && target.provider.options.dialect === 'bedrock';
  return mustMove(attempt) || isRefusalForLoad(answer.status) || answer.status >= 500 || isModelFailure;
}

/**
 * Whether the request is for another target of those that share requests: this one's host asks to wait, or refuses the
 * key. Whatever else it answers is about the request, or counts for its breaker.
 */
export function mustMove<Request extends ProviderRequest>(
  attempt: Attempt<Request>,
): attempt is AnsweredAttempt<Request> {
  if (attempt.kind === 'failed' || attempt.target.share === undefined) return false;
  const { status } = attempt.forwarded.answer;
  // A cloud's credentials are renewed, not left alone.
  return status === 429 || (status === 401 && attempt.target.provider.authorizer === undefined);
}

/** How long a host is left alone at most, whatever it says. */
const maxRestMs = 3_600_000;

/** Leaves the target alone that a request must move from; the milliseconds. */
export function noteRest({ forwarded: { answer }, target }: AnsweredAttempt, nowMs: number): number {
  const { provider, model } = target;
  if (answer.status === 401) provider.keyRefused(nowMs);
  else {
    const waitMs = requestedWaitMs(answer.headers, nowMs);
    provider.health.rest(model, nowMs, waitMs === undefined ? undefined : Math.min(waitMs, maxRestMs));
  }
  return provider.health.restMs(model, nowMs);
}

/** Milliseconds until the same target may be asked again; undefined if it may not. */
export function waitBeforeRetry(attempt: Attempt, tries: number): number | undefined {
  if (isRenewed(attempt)) return attempt.target.provider.retryBudget.take(tries) ? 0 : undefined;
  if (!mayRepeat(attempt)) return undefined;
  const headers = attempt.kind === 'answered' ? attempt.forwarded.answer.headers : undefined;
  const waitMs = retryWaitMs(headers, tries, Math.random(), Date.now());
  if (waitMs === undefined || !attempt.target.provider.retryBudget.take(tries)) return undefined;
  return waitMs;
}

/**
 * Whether the provider refused credentials that had been revoked or were made for the wrong time, and there are
 * others now.
 */
function isRenewed(attempt: Attempt): boolean {
  if (attempt.kind === 'failed') return false;
  const { answer, target, sentAtMs } = attempt.forwarded;
  const isRefused = answer.status === 401 || answer.status === 403;
  const refusal = { headers: answer.headers, ageMs: performance.now() - sentAtMs };
  return isRefused && target.provider.authorizer?.refused(refusal) === true;
}

function mayRepeat(attempt: Attempt): boolean {
  if (attempt.kind === 'failed') {
    const { error, wasSent } = attempt.failure;
    return !wasSent && error.code !== 'provider.credentials_missing';
  }
  const { status, headers } = attempt.forwarded.answer;
  // The limits on a client's own login are for the client to wait for.
  if (status === 429 && attempt.target.provider.takesLogin) return false;
  return isRefusalForLoad(status) && headers.get('x-should-retry') !== 'false';
}

function isRefusalForLoad(status: number): boolean {
  return status === 429 || status === 503 || status === 529;
}

/** Abandons an answer that won't be read, and releases its slot at the provider. */
export function discard(attempt: Attempt): void {
  if (attempt.kind === 'answered') attempt.forwarded.release();
}

function tooLong({ options }: Provider): GatewayError {
  const message = `the whole exchange took longer than ${options.timeouts.totalMs} ms`;
  return new GatewayError('provider.timeout', message);
}
