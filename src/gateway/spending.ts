import type { Dialect } from '../dialects/dialect.ts';
import type { DialectName } from '../dialects/registry.ts';
import { leastLimit as leastResponsesCap } from '../dialects/responses/build-request.ts';
import { defaultCap } from '../dialects/translation/model-quirks.ts';
import { noUsage, type Usage } from '../dialects/usage.ts';
import { GatewayError } from '../errors.ts';
import { type JsonDocument, kinds } from '../json/json-document.ts';
import type { Amounts } from '../limits/counters.ts';
import { knownModel } from '../limits/known-models.ts';
import type { Limiter, Reservation } from '../limits/limiter.ts';
import { costOf, type Price, worstCostOf } from '../limits/price.ts';
import { findCaps } from '../policy/traverse/caps.ts';
import type { Route, Target } from '../providers/route.ts';
import type { ModelEndpoint } from './endpoints.ts';
import type { ModelRequest } from './request.ts';
import { findSurchargedMode } from './surcharged-mode.ts';
import { dialectAt } from './targets.ts';
import { worstInputTokens } from './worst-input.ts';

export interface SpendingRequest {
  readonly request: ModelRequest;
  readonly endpoint: ModelEndpoint;
  readonly route: Route | undefined;
  /** The targets that may be tried: the worst case is that of the most expensive, and of the one with the longest answers. */
  readonly targets: readonly Target[];
}

/** How an exchange ended, as far as it determines what was used. */
export interface Ending {
  /** The client's status. */
  readonly status: number;
  /** Why the client did not get all of the answer. */
  readonly error: GatewayError | undefined;
  /** Undefined if no provider was chosen. */
  readonly target: { readonly provider: string; readonly model: string } | undefined;
  /** How far the last attempt got: the status of the provider's answer, or no answer to a request that was abandoned. */
  readonly progress: number | 'abandoned' | undefined;
  readonly usage: Usage | undefined;
  readonly bytesOut: number;
}

export interface Spent {
  readonly usage: Usage | undefined;
  /** Undefined if no price is known. */
  readonly nanoUsd: number | undefined;
}

/** The most that an exchange may use. */
interface Worst {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Undefined if no price is known. */
  readonly nanoUsd: number | undefined;
}

interface Bounds {
  /** The largest cap; 0 if there is none. */
  readonly cap: number;
  /** Whether no answer can be longer than the cap. */
  readonly isBounding: boolean;
  readonly answers: number;
}

const free: Price = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const nothing: Amounts = { requests: 0, tokens: 0, nanoUsd: 0 };
/** Output tokens assumed if neither the client, the configuration nor what is known of the model sets a bound. */
const unboundedTokens = 32_768;
/** For an answer whose usage is not known: bytes per token of an event stream, and of JSON. */
const eventBytesPerToken = 40;
const jsonBytesPerToken = 3;

/** The most that one exchange may use, and what it did use. */
export class Spending {
  readonly #request: SpendingRequest;
  #reservation: Reservation | undefined;
  #worst: Worst | undefined;
  #bounds: Bounds | undefined;

  constructor(request: SpendingRequest) {
    this.#request = request;
  }

  /** Whose SDK reads the rate-limit headers. */
  get dialectName(): DialectName {
    return this.#request.endpoint.dialectName;
  }

  get reservation(): Reservation | undefined {
    return this.#reservation;
  }

  /**
   * Reserves the worst case; synchronously, without a promise, if limits are counted in this process. Throws
   * limit.requests, .tokens, .concurrency, .budget and .state_unavailable.
   */
  reserve(limiter: Limiter, nowMs: number): Promise<void> | undefined {
    const granted = limiter.reserve(this.#worstCase(limiter), nowMs, () => this.#advice());
    if (!(granted instanceof Promise)) {
      this.#reservation = granted;
      return undefined;
    }
    return granted.then((reservation) => {
      this.#reservation = reservation;
    });
  }

  /** Whether the provider charges for the request. */
  get isCharged(): boolean {
    return this.#request.endpoint.kind !== 'count';
  }

  /** The most that the exchange can use, whichever of its targets answers. */
  worst(): Worst {
    this.#worst ??= this.#findWorst();
    return this.#worst;
  }

  /** Settles what was used once the exchange is over, and returns the rest of the reservation. */
  settle(ending: Ending): Spent {
    const target = ending.target && this.#targetOf(ending.target);
    if (target === undefined) {
      this.#reservation?.settle(nothing);
      return { usage: undefined, nanoUsd: undefined };
    }
    const usage = this.isCharged && mayCost(ending) ? this.#usageAt(target, ending) : undefined;
    const price = this.#priceOf(target);
    const nanoUsd = usage === undefined ? 0 : price && costOf(usage, price);
    const tokens = usage === undefined ? 0 : usage.inputTokens + usage.outputTokens;
    this.#reservation?.settle({ requests: 1, tokens, nanoUsd: nanoUsd ?? 0 });
    return { usage, nanoUsd };
  }

  #worstCase(limiter: Limiter): Amounts {
    if (!limiter.needsAmounts || this.#request.endpoint.kind === 'count') return { ...nothing, requests: 1 };
    const isUnpriced = (each: Target) => !each.provider.takesLogin && this.#priceOf(each) === undefined;
    if (limiter.needsPrice && this.#request.targets.some(isUnpriced)) {
      throw unpriced(this.#request.request.model);
    }
    const mode = limiter.needsPrice ? this.#surchargedMode() : undefined;
    if (mode !== undefined) throw unpriced(`${this.#request.request.model} with ${mode}`);
    const { inputTokens, outputTokens, nanoUsd = 0 } = this.worst();
    return { requests: 1, tokens: inputTokens + outputTokens, nanoUsd };
  }

  /** How a request can need less: coding agents ask for far more output than they use. */
  #advice(): string {
    const { dialect, kind } = this.#request.endpoint;
    const { outputTokens } = this.worst();
    return outputTokens === 0 || kind === 'count'
      ? ''
      : `; a ${dialect.caps[0]} below ${outputTokens / (this.#bounds?.answers ?? 1)} needs less`;
  }

  /** What the client asks for that costs more than the known prices; undefined where the configuration has its own. */
  #surchargedMode(): string | undefined {
    const { request, targets } = this.#request;
    const hasListPrice = ({ provider, model }: Target) =>
      provider.options.family !== 'sandbox' &&
      !provider.takesLogin &&
      this.#configuredPrice(model) === undefined;
    if (!targets.some(hasListPrice)) return undefined;
    return findSurchargedMode(request.document);
  }

  /** As far as it can be known in advance. */
  #findWorst(): Worst {
    const { request, targets } = this.#request;
    const inputTokens = worstInputTokens(request.document);
    let outputTokens = 0;
    let nanoUsd: number | undefined;
    for (const target of targets) {
      const output = this.#longestAt(target);
      outputTokens = Math.max(outputTokens, output);
      const price = this.#priceOf(target);
      if (price === undefined) continue;
      nanoUsd = Math.max(nanoUsd ?? 0, worstCostOf({ input: inputTokens, output }, price));
    }
    return { inputTokens, outputTokens, nanoUsd };
  }

  /** The most output tokens that a target can write for the request. */
  #longestAt(target: Target): number {
    const { request, endpoint } = this.#request;
    if (endpoint.dialect.caps.length === 0) return 0;
    this.#bounds ??= boundsOf(request.document, endpoint.dialect);
    const { cap, isBounding, answers } = this.#bounds;
    const least = isBounding ? this.#leastCapAt(target) : this.#longestWithoutCap(target);
    return Math.max(cap, least) * answers;
  }

  /** A translation raises smaller caps to this one. */
  #leastCapAt({ provider }: Target): number {
    const { endpoint } = this.#request;
    if (endpoint.dialectName === 'responses') return 0;
    return dialectAt(provider.options, endpoint) === 'responses' ? leastResponsesCap : 0;
  }

  #longestWithoutCap({ provider, model }: Target): number {
    const configured = this.#request.route?.entry.maxOutputTokens;
    // Where the dialect needs a cap, this one is sent (outgoing/build-body.ts).
    if (provider.options.family === 'anthropic') return configured ?? defaultCap;
    const known = knownModel(model)?.maxOutputTokens ?? unboundedTokens;
    return this.#isEntrysOwn(model) ? (configured ?? known) : known;
  }

  #targetOf({ provider, model }: NonNullable<Ending['target']>): Target | undefined {
    return this.#request.targets.find(
      (each) => each.provider.options.name === provider && each.model === model,
    );
  }

  #priceOf({ provider, model }: Target): Price | undefined {
    const configured = this.#configuredPrice(model);
    if (configured !== undefined) return configured;
    if (provider.takesLogin) return undefined;
    return provider.options.family === 'sandbox' ? free : knownModel(model)?.price;
  }

  #configuredPrice(model: string): Price | undefined {
    return this.#isEntrysOwn(model) ? this.#request.route?.entry.pricing : undefined;
  }

  /**
   * Whether what the entry says of its model holds for this one: it is the same, wherever it is served, or nothing else
   * is known of it. Fallbacks may be other models.
   */
  #isEntrysOwn(model: string): boolean {
    const { request, route } = this.#request;
    const own = route?.entry.targets[0].model ?? request.model;
    return model === own || knownModel(model) === undefined;
  }

  /** What the provider reported if that is all of it, else an estimate of what is missing. */
  #usageAt(target: Target, ending: Ending): Usage {
    const { usage } = ending;
    if (usage !== undefined && this.#isFinal(usage, ending)) return usage;
    const { isPartial: _, ...known } = usage ?? noUsage;
    const written = Math.min(this.#longestAt(target), this.#writtenTokens(ending));
    return {
      ...known,
      inputTokens: known.inputTokens === 0 ? this.worst().inputTokens : known.inputTokens,
      outputTokens: Math.max(known.outputTokens, written),
      isEstimated: true,
    };
  }

  /** The usage of a stream grows until its end. */
  #isFinal({ isPartial }: Usage, { error }: Ending): boolean {
    return isPartial !== true && (error === undefined || !this.#request.request.stream);
  }

  /** How many output tokens the answer's length suggests; Infinity if the provider may write what nobody sees. */
  #writtenTokens({ error, bytesOut }: Ending): number {
    const { stream, document } = this.#request.request;
    // A provider may write all of an answer that is no stream, though nobody waits for it any more.
    if (error !== undefined && !stream) return Number.POSITIVE_INFINITY;
    if (isInBackground(document)) return Number.POSITIVE_INFINITY;
    return Math.ceil(bytesOut / (stream ? eventBytesPerToken : jsonBytesPerToken));
  }
}

/** Providers charge for neither requests that they refuse nor those that they fail before the first byte. */
function mayCost({ usage, error, status, progress }: Ending): boolean {
  if (usage !== undefined) return true;
  if (status >= 400 && error?.code.startsWith('provider.') === true) return false;
  return progress === 'abandoned' || (progress !== undefined && progress < 400);
}

/** The output that the client asks for, as far as the request says. */
function boundsOf(document: JsonDocument, dialect: Dialect): Bounds {
  const caps = findCaps(document, dialect);
  const readable = caps.map(({ tokens }) => tokens).filter(Number.isFinite);
  return {
    cap: Math.max(0, ...readable),
    isBounding: readable.length === caps.length && caps.some(({ isOwn }) => isOwn),
    answers: answersOf(document),
  };
}

/** How many answers the request asks for; some hosts also take a text for a number. */
function answersOf(document: JsonDocument): number {
  const entry = document.member(document.root, 'n');
  if (entry === undefined) return 1;
  const count = document.kind(entry) === kinds.string ? Number(document.text(entry)) : document.number(entry);
  return Number.isFinite(count) && count > 1 ? Math.ceil(count) : 1;
}

/** Whether the provider goes on writing after its answer, which says where the rest can be fetched. */
function isInBackground(document: JsonDocument): boolean {
  const entry = document.member(document.root, 'background');
  return entry !== undefined && document.kind(entry) === kinds.true;
}

function unpriced(model: string): GatewayError {
  const message = `no price is known for ${model}, and its budget is in US$: set models[].pricing, or unpriced: allow beside the budget`;
  return new GatewayError('limit.budget', message, { param: '/model' });
}
