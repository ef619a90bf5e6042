import { getHeapStatistics } from 'node:v8';
import { expect, onTestFinished, test } from 'vitest';
import { watchHeap } from '../../src/gateway/heap-watch.ts';

const megabytes = () => getHeapStatistics().total_heap_size / 1_048_576;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Takes some 0.8 MB of the heap for each list, which nothing refers to afterwards. */
function work(lists = 200): void {
  const kept: number[][] = [];
  for (let at = 0; at < lists; at += 1)
    kept.push(Array.from({ length: 100_000 }, (_, number) => number + at));
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

const bodies = () => process.memoryUsage().arrayBuffers / 1_048_576;

/** Takes as many MB outside the heap, which nothing refers to afterwards. */
function takeBodies(count: number): number {
  const kept = Array.from({ length: count }, () => Buffer.alloc(1_048_576));
  return kept.length === count ? bodies() : 0;
}

test('bodies count, although they are outside the heap', async () => {
  const watch = watchHeap(() => false, 20);
  onTestFinished(() => watch.stop());
  const taken = takeBodies(600);
  while (bodies() > taken - 500) await pause(20); // the test's own limit ends it

  expect(taken).toBeGreaterThan(500);
});

test('a little is given back only after a long rest', async () => {
  const everyMs = 10;
  const watch = watchHeap(() => false, everyMs);
  onTestFinished(() => watch.stop());
  const taken = takeBodies(40);
  await pause(200 * everyMs); // a third of a long rest, at the most
  const afterAWhile = bodies();
  while (bodies() > taken - 30) await pause(20); // the test's own limit ends it

  expect(afterAWhile).toBeGreaterThan(taken - 30);
});
