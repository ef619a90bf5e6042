import { Breaker, type BreakerOptions } from './breaker.ts';
import type { BreakerChange } from './breaker-channel.ts';

type HealthChange = Omit<BreakerChange, 'provider'>;

interface HealthOptions {
  /** The sandbox: failures that it answers were requested, and don't count. */
  readonly trustsAnswers: boolean;
  /** Called when a breaker opens or closes here. */
  readonly onChange?: (change: HealthChange) => void;
}

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

  /** The head of an answer arrived. */
  answered(model: string, status: number, nowMs: number): void {
    this.#host.succeeded();
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
