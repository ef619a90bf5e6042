import { getHeapStatistics } from 'node:v8';
import { expect, onTestFinished, test } from 'vitest';
import { dueCollection, takenBytes, watchHeap } from '../../src/gateway/heap-watch.ts';

const mebibyte = 1_048_576;
const megabytes = () => getHeapStatistics().total_heap_size / mebibyte;
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

test('bodies count, although they are outside the heap', () => {
  const before = takenBytes(getHeapStatistics());
  const bodies = Array.from({ length: 300 }, () => Buffer.alloc(mebibyte));
  const taken = takenBytes(getHeapStatistics());

  expect(bodies).toHaveLength(300);
  expect(taken - before).toBeGreaterThan(150 * mebibyte); // others' garbage may go meanwhile
});

test.each([
  [29, 500, 4_096, undefined],
  [30, 97, 4_096, 'all'],
  [30, 96, 4_096, 'young'],
  [30, 17, 4_096, 'young'],
  [30, 16, 4_096, undefined],
  [30, 33, 256, 'all'],
  [30, 32, 256, 'young'],
  [30, 17, 64, 'all'],
  [31, 500, 4_096, undefined],
  [600, 17, 4_096, 'all'],
  [600, 16, 4_096, undefined],
  [601, 500, 4_096, undefined],
  [1_200, 17, 4_096, 'all'],
] as const)(
  'after %i checks, %i MiB more than once, of a heap of %i MiB at the most: %s',
  (idle, grown, limit, due) => {
    expect(dueCollection(idle, { grown: grown * mebibyte, limit: limit * mebibyte })).toBe(due);
  },
);
