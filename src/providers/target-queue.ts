import { GatewayError } from '../errors.ts';
import type { Target } from './route.ts';

/** One target with the request for it. */
export interface QueuedTarget<Request> {
  readonly target: Target;
  readonly request: Request;
}

type Found<Request> = QueuedTarget<Request> | undefined;

/** Builds the request for a target; throws request.unsupported where the target can't take it. */
export type BuildRequest<Request> = (target: Target) => Request | Promise<Request>;

/**
 * The targets in order, each with a request that is built only when it is needed. If `build` throws request.unsupported,
 * the target is skipped; any other error is passed on.
 */
export class TargetQueue<Request> {
  readonly #targets: readonly Target[];
  readonly #build: BuildRequest<Request>;
  #at = 0;
  #next: QueuedTarget<Request> | undefined;
  #objection: GatewayError | undefined;

  constructor(targets: readonly Target[], build: BuildRequest<Request>) {
    this.#targets = targets;
    this.#build = build;
  }

  /** Why the first skipped target can't take the request. */
  get objection(): GatewayError | undefined {
    return this.#objection;
  }

  /** The next target that can take the request; undefined if there is none left. A promise only if `build` returns one. */
  take(): Found<Request> | Promise<Found<Request>> {
    const next = this.#next ?? this.#find();
    this.#next = undefined;
    return next;
  }

  /** Whether there is another target that may be tried now; skips those that may not. */
  async hasMore(): Promise<boolean> {
    this.#next ??= await this.#find();
    while (this.#next !== undefined && waitMs(this.#next.target) > 0) {
      this.#next = await this.#find();
    }
    return this.#next !== undefined;
  }

  #find(): Found<Request> | Promise<Found<Request>> {
    while (this.#at < this.#targets.length) {
      const target = this.#targets[this.#at] as Target;
      this.#at += 1;
      try {
        const request = this.#build(target);
        return request instanceof Promise ? this.#finish(target, request) : { target, request };
      } catch (error) {
        this.#passOver(error);
      }
    }
    return undefined;
  }

  async #finish(target: Target, building: Promise<Request>): Promise<Found<Request>> {
    try {
      return { target, request: await building };
    } catch (error) {
      this.#passOver(error);
      return this.#find();
    }
  }

  #passOver(error: unknown): void {
    if (!(error instanceof GatewayError) || error.code !== 'request.unsupported') throw error;
    this.#objection ??= error;
  }
}

function waitMs({ provider, model }: Target): number {
  return provider.health.waitMs(model, Date.now());
}
