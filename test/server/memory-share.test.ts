import { expect, test } from 'vitest';
import { fittingWorkers, memoryShare } from '../../src/server/memory-share.ts';

const mebibyte = 1_048_576;

test.each([
  [256, 1, { bodies: 16, threads: 1, heap: 64 }],
  [512, 1, { bodies: 32, threads: 2, heap: 128 }],
  [512, 2, { bodies: 14, threads: 1, heap: 56 }],
  [1_024, 1, { bodies: 64, threads: 4, heap: undefined }],
  [16_384, 4, { bodies: 255, threads: 4, heap: undefined }],
])('of %i MiB each of %i processes has its share', (memory, workers, { bodies, threads, heap }) => {
  const { bodiesBytes, decisionThreads } = memoryShare(workers, memory * mebibyte);

  expect(Math.floor(bodiesBytes / mebibyte)).toBe(bodies);
  expect(decisionThreads).toEqual({ count: threads, heapMegabytes: heap });
});

test.each([
  [64, 1, 1],
  [256, 2, 1],
  [512, 2, 2],
  [512, 4, 2],
  [4_096, 8, 8],
])('%i MiB have room for as many workers: of %i %i', (memory, wanted, fitting) => {
  expect(fittingWorkers(wanted, memory * mebibyte)).toBe(fitting);
});
