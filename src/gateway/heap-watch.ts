import { getHeapStatistics, type HeapInfo } from 'node:v8';
import { collectGarbage } from './collect-garbage.ts';

export interface HeapWatch {
  /** Whether new work must be refused: better a refused request than a dead process. */
  isScarce(): boolean;
  stop(): void;
}

/** Of the heap's limit. */
const maxHeapShare = 0.85;
const checkMs = 1_000;
/** Checks in a row without an exchange, after which young objects are collected, or everything if much has been taken. */
const idleChecks = 30;
/** After each further so many, everything is collected. */
const restingChecks = 600;
/** What is much: it is worth the code that a collection takes. */
const muchBytes = 96 * 1_048_576;
const muchShare = 1 / 8;
/** A collection takes some 20 ms, in which a request would wait: not worth it for less. */
const fewestBytes = 16 * 1_048_576;
/** One to empty pages, one to give them back. */
const neededRounds = 2;

/**
 * Watches this thread's heap, and gives back what it doesn't need once nothing has been open for a while, which would
 * otherwise be kept for a night after the busiest second.
 *
 * A full collection while nothing is open costs more than its own time: V8 drops the hidden classes that only exchanges use,
 * and the optimized code that depends on them, so that the next second of load takes several times as much
 * (docs/decisions/first-request.md). So after a short pause everything is collected only if much has been taken; otherwise
 * only young objects are, which costs the next requests nothing.
 */
export function watchHeap(isBusy: () => boolean, everyMs = checkMs): HeapWatch {
  let isScarce = false;
  let idle = 0;
  let smallest = takenBytes(getHeapStatistics());
  let rounds = 0;
  const timer = setInterval(() => {
    const heap = getHeapStatistics();
    const { used_heap_size: used, heap_size_limit: limit } = heap;
    isScarce = used > limit * maxHeapShare;
    const taken = takenBytes(heap);
    smallest = Math.min(smallest, taken);
    idle = isBusy() ? 0 : idle + 1;
    if (idle < idleChecks) return;
    const due = dueCollection(idle, { grown: taken - smallest, limit });
    if (due === 'young') collectGarbage('young');
    if (due === 'all') rounds = neededRounds;
    if (rounds === 0) return;
    rounds -= 1;
    collectGarbage();
    smallest = takenBytes(getHeapStatistics());
  }, everyMs).unref();
  return { isScarce: () => isScarce, stop: () => clearInterval(timer) };
}

/** The heap, and bodies, which are outside it until it is collected. */
export function takenBytes({ total_heap_size: heap, external_memory: bodies }: HeapInfo): number {
  return heap + bodies;
}

/** What is collected after so many checks without an exchange, if so many bytes have been taken; limit: the heap's. */
export function dueCollection(
  idle: number,
  { grown, limit }: { readonly grown: number; readonly limit: number },
): 'all' | 'young' | undefined {
  const isResting = idle % restingChecks === 0;
  if ((idle !== idleChecks && !isResting) || grown <= fewestBytes) return undefined;
  return isResting || grown > Math.min(muchBytes, limit * muchShare) ? 'all' : 'young';
}
