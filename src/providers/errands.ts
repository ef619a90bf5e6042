import { GatewayError } from '../errors.ts';
import type { Target } from './route.ts';

/** One target with what it is sent. */
export interface Errand<Request> {
  readonly target: Target;
  readonly request: Request;
}

export interface Errands<Request> {
  /** The next target that can take the request; undefined when there is none left. */
  take(): Errand<Request> | undefined;
  /** Whether `take` would give one that may be asked now; those that may not are passed over. */
  hasMore(): boolean;
  /** Why the first of those that were passed over can't take it. */
  readonly objection: GatewayError | undefined;
}

/**
 * The targets in their order, each with a request that is built when its turn comes and not before. One whose
 * `build` throws request.unsupported is passed over; anything else that it throws comes through.
 */
export function planErrands<Request>(
  targets: readonly Target[],
  build: (target: Target) => Request,
): Errands<Request> {
  const rest = targets.values();
  let next: Errand<Request> | undefined;
  let objection: GatewayError | undefined;

  const find = (): Errand<Request> | undefined => {
    for (let step = rest.next(); step.done !== true; step = rest.next()) {
      try {
        return { target: step.value, request: build(step.value) };
      } catch (error) {
        if (!(error instanceof GatewayError) || error.code !== 'request.unsupported') throw error;
        objection ??= error;
      }
    }
    return undefined;
  };

  return {
    take: () => {
      const errand = next ?? find();
      next = undefined;
      return errand;
    },
    hasMore: () => {
      next ??= find();
      while (next !== undefined && !next.target.provider.breaker.wouldAdmit(Date.now())) next = find();
      return next !== undefined;
    },
    get objection() {
      return objection;
    },
  };
}
