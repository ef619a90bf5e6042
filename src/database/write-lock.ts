import { GatewayError } from '../errors.ts';
import { sqliteFailure } from './sqlite-failure.ts';

/** The only writer's place on a SQLite connection, and the patience with other processes that hold the file's lock. */
export interface WriteLock {
  /** Resolves when it is the caller's. Throws store.database if that takes too long or too many wait. */
  acquire(): Promise<void>;
  release(): void;
}

interface Waiting {
  readonly resolve: () => void;
  readonly timer: NodeJS.Timeout;
}

/** How long a request waits for a lock in all: this process's, then the file's. */
export const lockWaitMs = 5_000;
const waitingLimit = 1_000;
const shortestPauseMs = 2;
const longestPauseMs = 50;

/** One holder at a time, in the order of asking. */
export function createWriteLock(): WriteLock {
  const waiting = new Set<Waiting>();
  let isHeld = false;
  return {
    acquire: () => {
      if (!isHeld) {
        isHeld = true;
        return Promise.resolve();
      }
      if (waiting.size >= waitingLimit) return Promise.reject(busyFailure());
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting.delete(entry);
          reject(busyFailure());
        }, lockWaitMs);
        const entry: Waiting = { resolve, timer };
        waiting.add(entry);
      });
    },
    release: () => {
      const [next] = waiting;
      if (next === undefined) {
        isHeld = false;
        return;
      }
      waiting.delete(next);
      clearTimeout(next.timer);
      next.resolve();
    },
  };
}

/** Runs the work again while another process has the file locked, leaving the event loop free in between. */
export async function whileBusy<Value>(deadline: number, work: () => Value): Promise<Value> {
  for (let pauseMs = shortestPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return work();
    } catch (error) {
      if (sqliteFailure(error) !== 'locked') throw error;
      if (performance.now() + pauseMs > deadline) throw busyFailure(error);
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

function busyFailure(cause?: unknown): GatewayError {
  return new GatewayError('store.database', "the store's database is busy; try again soon", {
    cause,
    retryAfterS: 1,
  });
}
