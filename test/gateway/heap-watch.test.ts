import { getHeapStatistics } from 'node:v8';
import { expect, onTestFinished, test } from 'vitest';
import { watchHeap } from '../../src/gateway/heap-watch.ts';

const megabytes = () => getHeapStatistics().total_heap_size / 1_048_576;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Takes some 160 MB of the heap, which nothing refers to afterwards. */
function work(): void {
  const kept: number[][] = [];
  for (let at = 0; at < 200; at += 1) kept.push(Array.from({ length: 100_000 }, (_, number) => number + at));
}

test('gives memory back once nothing is open, and not before', async () => {
  let isOpen = true;
  const watch = watchHeap(() => isOpen, 20);
  onTestFinished(() => watch.stop());
  work();
  const taken = megabytes();
  await pause(1_000);
  const whileOpen = megabytes();
  isOpen = false;
  while (megabytes() > taken - 40) await pause(20); // the test's own limit ends it

  expect(whileOpen).toBeGreaterThan(taken - 40);
  expect(watch.isScarce()).toBe(false);
});
