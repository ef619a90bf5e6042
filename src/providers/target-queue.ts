import { GatewayError } from '../errors.ts';
import type { Target } from './route.ts';

/** One target with what it is sent. */
export interface QueuedTarget<Request> {
  readonly target: Target;
  readonly request: Request;
}

/**
 * The targets in their order, each with a request that is built when its turn comes and not before. One whose
 * `build` throws request.unsupported is passed over; anything else that it throws comes through.
 */
export class TargetQueue<Request> {
  readonly #targets: readonly Target[];
  readonly #build: (target: Target) => Request;
  #at = 0;
  #next: QueuedTarget<Request> | undefined;
  #objection: GatewayError | undefined;

  constructor(targets: readonly Target[], build: (target: Target) => Request) {
    this.#targets = targets;
    this.#build = build;
  }

  /** Why the first of those that were passed over can't take the request. */
  get objection(): GatewayError | undefined {
    return this.#objection;
  }

  /** The next target that can take the request; undefined when there is none left. */
  take(): QueuedTarget<Request> | undefined {
    const next = this.#next ?? this.#find();
    this.#next = undefined;
    return next;
  }

  /** Whether `take` would give one that may be asked now; those that may not are passed over. */
  hasMore(): boolean {
    this.#next ??= this.#find();
    while (this.#next !== undefined && !this.#next.target.provider.breaker.wouldAdmit(Date.now())) {
      this.#next = this.#find();
    }
    return this.#next !== undefined;
  }

  #find(): QueuedTarget<Request> | undefined {
    while (this.#at < this.#targets.length) {
      const target = this.#targets[this.#at] as Target;
      this.#at += 1;
      try {
        return { target, request: this.#build(target) };
      } catch (error) {
        if (!(error instanceof GatewayError) || error.code !== 'request.unsupported') throw error;
        this.#objection ??= error;
      }
    }
    return undefined;
  }
}
