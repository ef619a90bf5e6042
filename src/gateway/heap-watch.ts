import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export interface HeapWatch {
  /** Whether new work must be refused: better a refused request than a dead process. */
  isScarce(): boolean;
  stop(): void;
}

/** Of the heap's limit. */
const maxShare = 0.85;
const checkMs = 1_000;
/** Checks in a row at which nothing is open, before memory is given back: what V8 has to take again costs CPU time. */
const idleChecks = 30;
/** A collection takes some 20 ms, in which a request would wait: not worth it for less. */
const minGrownBytes = 16 * 1_048_576;
/** The pages that one collection empties go back to the system with the next. */
const neededRounds = 2;

/**
 * Watches this thread's heap, and gives back what it doesn't need once nothing has been open for a while: V8 collects
 * only while a program allocates, so that a gateway would keep for a night what its busiest second took.
 */
export function watchHeap(isBusy: () => boolean, everyMs = checkMs): HeapWatch {
  let isScarce = false;
  let idle = 0;
  let collectedTo = 0;
  let rounds = 0;
  const timer = setInterval(() => {
    const { used_heap_size: used, heap_size_limit: limit, total_heap_size: total } = getHeapStatistics();
    isScarce = used > limit * maxShare;
    idle = isBusy() ? 0 : idle + 1;
    if (idle < idleChecks) return;
    if (idle === idleChecks && total > collectedTo + minGrownBytes) rounds = neededRounds;
    if (rounds === 0) return;
    rounds -= 1;
    collect();
    collectedTo = getHeapStatistics().total_heap_size;
  }, everyMs).unref();
  return { isScarce: () => isScarce, stop: () => clearInterval(timer) };
}

/** Node's own way to collect from within: the function is there in contexts that are made after the flag is set. */
function collect(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  setFlagsFromString('--no-expose-gc');
}
