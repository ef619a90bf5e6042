import { Breaker, type BreakerOptions } from './breaker.ts';
import type { BreakerChange } from './breaker-channel.ts';

type HealthChange = Omit<BreakerChange, 'provider'>;

interface HealthOptions {
  /** Failures that it answers are what it was asked for, and count for nothing. */
  readonly trustsAnswers: boolean;
  /** Called when a breaker opens or closes here. */
  readonly onChange?: (change: HealthChange) => void;
}

// Clients choose the names of models, so how many are known is bounded.
const maxModels = 1_000;

/**
 * How a provider is, by its failures. What is no answer at all (no connection, none in time, nonsense) counts for
 * the host. An answer, whatever its status, proves that the host is there: one of 5xx, but for 501, counts for
 * the model that was asked, and everything below is about the request or the caller's quota and counts for
 * nothing. So no model, and no client's mistake, keeps requests away from another model.
 */
export class Health {
  readonly #options: BreakerOptions;
  readonly #trustsAnswers: boolean;
  readonly #onChange: (change: HealthChange) => void;
  readonly #host: Breaker;
  /** Of models whose last answer was a failure. */
  readonly #models = new Map<string, Breaker>();

  constructor(options: BreakerOptions, { trustsAnswers, onChange = () => undefined }: HealthOptions) {
    this.#options = options;
    this.#trustsAnswers = trustsAnswers;
    this.#onChange = onChange;
    this.#host = new Breaker(options, (isOpen) => onChange({ isOpen }));
  }

  /** Whether requests for the model are kept away. */
  isOpen(model: string): boolean {
    return this.#host.isOpen || this.#models.get(model)?.isOpen === true;
  }

  /** Whether requests for all models are kept away. */
  get isHostOpen(): boolean {
    return this.#host.isOpen;
  }

  /** How many models have requests kept away from them alone. */
  get openModels(): number {
    let open = 0;
    for (const breaker of this.#models.values()) if (breaker.isOpen) open += 1;
    return open;
  }

  /** Milliseconds until the next request for the model may pass; asking changes nothing. */
  waitMs(model: string, nowMs: number): number {
    return Math.max(this.#host.waitMs(nowMs), this.#models.get(model)?.waitMs(nowMs) ?? 0);
  }

  /** The same, and where it is 0 this request is the probe where one is due. */
  admit(model: string, nowMs: number): number {
    const waitMs = this.waitMs(model, nowMs);
    if (waitMs > 0) return waitMs;
    this.#host.admit();
    this.#models.get(model)?.admit();
    return 0;
  }

  /** The head of an answer came. */
  answered(model: string, status: number, nowMs: number): void {
    this.#host.succeeded();
    if (status < 500 || status === 501 || this.#trustsAnswers) this.#modelSucceeded(model);
    else this.#breakerOf(model).failed(nowMs);
  }

  /** No answer came. */
  failed(model: string, nowMs: number): void {
    this.#host.failed(nowMs);
    this.#models.get(model)?.abstained();
  }

  /** The request has no outcome (its client left first). */
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
