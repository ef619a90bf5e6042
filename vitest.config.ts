import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    globalSetup: ['test/kit/build.ts'],
    setupFiles: ['test/kit/leftovers.ts'],
    include: ['test/**/*.test.ts'],
    testTimeout: 20_000,
    hookTimeout: 30_000,
    // A poll ends when it finds what it looks for; only a failing one waits for all of this.
    expect: { poll: { timeout: 15_000 } },
    // Many tests wait for time-outs and other programs: a core is not busy with one file at a time.
    maxWorkers: Math.max(2, availableParallelism() - 1),
  },
});
