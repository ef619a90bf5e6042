import { getHeapStatistics } from 'node:v8';

// Above this share of the heap limit new work is refused: better a refused request than a dead process.
const heapShare = 0.85;
const heapCheckMs = 1_000;

export interface HeapWatch {
  readonly isScarce: () => boolean;
  readonly stop: () => void;
}

export function watchHeap(): HeapWatch {
  let isScarce = false;
  const check = () => {
    const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
    isScarce = used > limit * heapShare;
  };
  const timer = setInterval(check, heapCheckMs).unref();
  return { isScarce: () => isScarce, stop: () => clearInterval(timer) };
}
