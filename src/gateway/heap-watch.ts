import { getHeapStatistics } from 'node:v8';
import { collectGarbage } from './collect-garbage.ts';

export interface HeapWatch {
  /** Whether new work must be refused: better a refused request than a dead process. */
  isScarce(): boolean;
  stop(): void;
}

/** Of the heap's limit. */
const maxHeapShare = 0.85;
const checkMs = 1_000;
/** Checks in a row at which nothing is open, before much memory is given back, and before any is. */
const idleChecks = 30;
const restingChecks = 600;
/** What is much: it is worth the code that a collection takes. */
const muchBytes = 96 * 1_048_576;
const muchShare = 1 / 8;
/** A collection takes some 20 ms, in which a request would wait: not worth it for less. */
const fewestBytes = 16 * 1_048_576;
/** One to empty pages, one to give them back. */
const neededRounds = 2;

/**
 * Watches this thread's heap, and gives back what it doesn't need once nothing has been open for a while: V8 collects
 * only while a program allocates, so that a gateway would keep for a night what its busiest second took.
 *
 * A full collection while nothing is open costs more than its own time: V8 drops the hidden classes that only exchanges use,
 * and the optimized code that depends on them, so that the next second of load takes several times as much
 * (docs/decisions/first-request.md). So only a heap that has grown by much is collected in a short pause.
 */
export function watchHeap(isBusy: () => boolean, everyMs = checkMs): HeapWatch {
  let isScarce = false;
  let idle = 0;
  let smallest = getHeapStatistics().total_heap_size;
  let rounds = 0;
  const timer = setInterval(() => {
    const { used_heap_size: used, heap_size_limit: limit, total_heap_size: total } = getHeapStatistics();
    isScarce = used > limit * maxHeapShare;
    smallest = Math.min(smallest, total);
    idle = isBusy() ? 0 : idle + 1;
    if (idle < idleChecks) return;
    const worth = idle < restingChecks ? Math.min(muchBytes, limit * muchShare) : fewestBytes;
    if (rounds === 0 && total > smallest + worth) rounds = neededRounds;
    if (rounds === 0) return;
    rounds -= 1;
    collectGarbage();
    smallest = getHeapStatistics().total_heap_size;
  }, everyMs).unref();
  return { isScarce: () => isScarce, stop: () => clearInterval(timer) };
}
