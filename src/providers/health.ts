import type { ProviderConfig } from '../config/build/providers.ts';
import { backoffMs } from '../lib/backoff.ts';

/** A breaker opened (or sent its probe, so that the others keep waiting), or closed. */
export interface BreakerChange {
  /** The provider's name and address: during a rollout, gateways may have different hosts under one name. */
  readonly provider: string;
  /** Undefined if all models of the host are meant. */
  readonly model?: string | undefined;
  readonly isOpen: boolean;
}

/** Carries changes between processes that share breakers. Nothing waits for it, and losing a change does little harm. */
export interface BreakerChannel {
  publish(change: BreakerChange): void;
  /** Registers a listener for the changes of the others. */
  subscribe(listener: (change: BreakerChange) => void): void;
}

const maxNameLength = 1_000;

/** What another process sent; undefined for anything else. */
export function parseBreakerChange(value: unknown): BreakerChange | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { provider, model, isOpen } = value as Partial<Record<keyof BreakerChange, unknown>>;
  if (!isName(provider) || !(model === undefined || isName(model)) || typeof isOpen !== 'boolean')
    return undefined;
  return { provider, model, isOpen };
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= maxNameLength;
}

/** How many failures in a row open it, and how long it stays open before one request may probe. */
type BreakerOptions = ProviderConfig['breaker'];

const followerShare = 1.1;

/** Blocks requests to something that keeps failing, and lets one through now and then as a probe. */
class Breaker {
  readonly #options: BreakerOptions;
  readonly #onChange: (isOpen: boolean) => void;
  #failuresInRow = 0;
  #openUntilMs = 0;
  #isProbing = false;

  /** `onChange` is called when it opens or sends its probe, and when it closes; not for changes it gets from others. */
  constructor(options: BreakerOptions, onChange: (isOpen: boolean) => void = () => undefined) {
    this.#options = options;
    this.#onChange = onChange;
  }

  /** Milliseconds until the next request may pass; asking changes nothing. */
  waitMs(nowMs: number): number {
    if (!this.isOpen) return 0;
    if (nowMs < this.#openUntilMs) return this.#openUntilMs - nowMs;
    return this.#isProbing ? this.#options.openMs : 0;
  }

  /** Lets a request pass, to be called if there is no wait; the request is the probe if one is due. */
  admit(): void {
    this.#isProbing = this.isOpen;
    if (this.#isProbing) this.#onChange(true);
  }

  get isOpen(): boolean {
    return this.#failuresInRow >= this.#options.failures;
  }

  succeeded(): void {
    const wasOpen = this.isOpen;
    this.#failuresInRow = 0;
    this.#isProbing = false;
    if (wasOpen) this.#onChange(false);
  }

  failed(nowMs: number): void {
    this.#failuresInRow += 1;
    this.#isProbing = false;
    if (!this.isOpen) return;
    this.#openUntilMs = nowMs + this.#options.openMs;
    this.#onChange(true);
  }

  /** Another process's breaker for the same host or model opened or closed. That process probes first; this one waits longer. */
  follow(isOpen: boolean, nowMs: number): void {
    this.#failuresInRow = isOpen ? this.#options.failures : 0;
    this.#isProbing = false;
    if (isOpen) this.#openUntilMs = nowMs + this.#options.openMs * followerShare;
  }

  /** The request has no outcome (its client disconnected first). */
  abstained(): void {
    this.#isProbing = false;
  }
}

type HealthChange = Omit<BreakerChange, 'provider'>;

interface HealthOptions {
  /** The sandbox: failures that it answers were requested, and don't count. */
  readonly trustsAnswers: boolean;
  /** Called when a breaker opens or closes here. */
  readonly onChange?: (change: HealthChange) => void;
}

interface Rest {
  readonly untilMs: number;
  /** How often it was asked for before an answer came. */
  readonly times: number;
}

/** How long a host is left alone that names no time. */
const unknownRest = { firstMs: 1_000, maxMs: 60_000 };

// Clients choose the names of models, so how many are known is bounded.
const maxModels = 1_000;

/**
 * A provider's health, inferred from its failures. The lack of an answer (no connection, a timeout, nonsense) counts against
 * the host. An answer of any status proves that the host is there: a 5xx other than 501 counts against the requested
 * model, and anything below is about the request or the caller's quota and doesn't count. So neither one model nor a
 * client's mistake can block requests to another model.
 */
export class Health {
  readonly #options: BreakerOptions;
  readonly #trustsAnswers: boolean;
  readonly #onChange: (change: HealthChange) => void;
  readonly #host: Breaker;
  /** Models that are not to be asked for, the whole host as ''; see `rest`. */
  readonly #rests = new Map<string, Rest>();
  /** The breakers of models whose last answer was a failure. */
  readonly #models = new Map<string, Breaker>();

  constructor(options: BreakerOptions, { trustsAnswers, onChange = () => undefined }: HealthOptions) {
    this.#options = options;
    this.#trustsAnswers = trustsAnswers;
    this.#onChange = onChange;
    this.#host = new Breaker(options, (isOpen) => onChange({ isOpen }));
  }

  /** Whether requests for the model are blocked. */
  isOpen(model: string): boolean {
    return this.#host.isOpen || this.#models.get(model)?.isOpen === true;
  }

  /** Whether requests for all models are blocked. */
  get isHostOpen(): boolean {
    return this.#host.isOpen;
  }

  /** How many models have an open breaker of their own. */
  get openModels(): number {
    let open = 0;
    for (const breaker of this.#models.values()) if (breaker.isOpen) open += 1;
    return open;
  }

  /** Milliseconds until the next request for the model may pass; asking changes nothing. */
  waitMs(model: string, nowMs: number): number {
    return Math.max(this.#host.waitMs(nowMs), this.#models.get(model)?.waitMs(nowMs) ?? 0);
  }

  /** The same; if it is 0 and a probe is due, this request becomes the probe. */
  admit(model: string, nowMs: number): number {
    const waitMs = this.waitMs(model, nowMs);
    if (waitMs > 0) return waitMs;
    this.#host.admit();
    this.#models.get(model)?.admit();
    return 0;
  }

  /**
   * Leaves the host alone for a while, or one of its models: it asked for that, or refused the key. Without a time it is a
   * second, and twice as long each time that it happens again before an answer. Only those keep to it who can ask another
   * target.
   */
  rest(model: string | undefined, nowMs: number, waitMs?: number): void {
    if (this.#rests.size >= maxModels) this.#rests.clear();
    const times = (this.#rests.get(model ?? '')?.times ?? 0) + 1;
    const untilMs = nowMs + (waitMs ?? backoffMs(times, unknownRest, 0));
    this.#rests.set(model ?? '', { untilMs, times });
  }

  /** Milliseconds until the model may be asked for by those who could ask another target. */
  restMs(model: string, nowMs: number): number {
    if (this.#rests.size === 0) return 0;
    const untilMs = Math.max(this.#rests.get('')?.untilMs ?? 0, this.#rests.get(model)?.untilMs ?? 0);
    return Math.max(0, untilMs - nowMs);
  }

  /** An answer to a request that came after the rest ends its growth. */
  #rested(nowMs: number, ...models: readonly string[]): void {
    for (const model of models)
      if ((this.#rests.get(model)?.untilMs ?? nowMs) < nowMs) this.#rests.delete(model);
  }

  /** The head of an answer arrived. */
  answered(model: string, status: number, nowMs: number): void {
    this.#host.succeeded();
    if (status < 400 && this.#rests.size > 0) this.#rested(nowMs, '', model);
    if (status < 500 || status === 501 || this.#trustsAnswers) this.#modelSucceeded(model);
    else this.#breakerOf(model).failed(nowMs);
  }

  /** No answer arrived. */
  failed(model: string, nowMs: number): void {
    this.#host.failed(nowMs);
    this.#models.get(model)?.abstained();
  }

  /** The request has no outcome (its client disconnected first). */
  abstained(model: string): void {
    this.#host.abstained();
    this.#models.get(model)?.abstained();
  }

  /** A breaker opened or closed in another process. */
  follow({ model, isOpen }: HealthChange, nowMs: number): void {
    if (model === undefined) this.#host.follow(isOpen, nowMs);
    else if (isOpen) this.#breakerOf(model).follow(true, nowMs);
    else this.#models.delete(model);
  }

  #modelSucceeded(model: string): void {
    this.#models.get(model)?.succeeded();
    this.#models.delete(model);
  }

  #breakerOf(model: string): Breaker {
    const known = this.#models.get(model);
    if (known !== undefined) return known;
    if (this.#models.size >= maxModels) this.#models.delete(this.#models.keys().next().value as string);
    const breaker = new Breaker(this.#options, (isOpen) => this.#onChange({ model, isOpen }));
    this.#models.set(model, breaker);
    return breaker;
  }
}
