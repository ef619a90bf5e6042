import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { collectGarbage } from './collect-garbage.ts';

export interface HeapWatch {
  /** Whether new work must be refused: better a refused request than a dead process. */
  isScarce(): boolean;
  stop(): void;
}

/** Of the heap's limit. */
const maxHeapShare = 0.85;
const checkMs = 1_000;

interface GivesBack {
  /** Checks in a row at which nothing was open. */
  readonly idleChecks: number;
  /** What the heap must have grown by since it was collected last. */
  readonly grownBytes: number;
}

/**
 * When memory is given back. A full collection while nothing is open costs more than its 20 ms: V8 drops the hidden classes
 * that only exchanges use, and the optimized code that depends on them, so that the next second of load takes five times
 * the CPU time. So a little waits until nobody works here any more.
 */
const givesBack: readonly GivesBack[] = [
  { idleChecks: 30, grownBytes: 96 * 1_048_576 },
  { idleChecks: 600, grownBytes: 16 * 1_048_576 },
];
/** One to empty pages, one to give them back. */
const neededRounds = 2;

/** The share of a thread's time up to which its program counts as calm. */
const calmShare = 0.1;

/**
 * Watches this thread's heap, and gives back what it doesn't need once nothing has been open for a while: V8 collects
 * only while a program allocates, so that a gateway would keep for a night what its busiest second took.
 */
export function watchHeap(isBusy: () => boolean, everyMs = checkMs): HeapWatch {
  let isScarce = false;
  let idle = 0;
  let collectedTo = getHeapStatistics().total_heap_size;
  let rounds = 0;
  let before = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const { used_heap_size: used, heap_size_limit: limit, total_heap_size: total } = getHeapStatistics();
    isScarce = used > limit * maxHeapShare;
    const now = performance.eventLoopUtilization();
    markInSteps(!isCalm(now, before));
    before = now;
    idle = isBusy() ? 0 : idle + 1;
    if (givesBack.some((when) => idle === when.idleChecks && total > collectedTo + when.grownBytes)) {
      rounds = neededRounds;
    }
    if (idle === 0) rounds = 0;
    if (rounds === 0) return;
    rounds -= 1;
    collectGarbage();
    collectedTo = getHeapStatistics().total_heap_size;
  }, everyMs).unref();
  return {
    isScarce: () => isScarce,
    stop: () => {
      clearInterval(timer);
      markInSteps(true);
    },
  };
}

function isCalm(now: EventLoopUtilization, before: EventLoopUtilization): boolean {
  return performance.eventLoopUtilization(now, before).utilization < calmShare;
}

/** As V8's flag is, the whole process's. */
let marksInSteps = true;

/**
 * Keeps the code of a program that pauses. Eight seconds after a full collection V8 collects once more, in steps, if the
 * program then allocates little; it drops code as described above, and can't be told not to. It doesn't begin while
 * marking in steps is off. Without steps, a full collection that is due is one pause of 20 to 30 ms, so they are on again
 * as soon as there is work.
 */
function markInSteps(wanted: boolean): void {
  if (wanted === marksInSteps) return;
  marksInSteps = wanted;
  setFlagsFromString(wanted ? '--incremental-marking' : '--no-incremental-marking');
}
