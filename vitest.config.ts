import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    globalSetup: ['test/kit/build.ts'],
    include: ['test/**/*.test.ts'],
    testTimeout: 20_000,
    hookTimeout: 30_000,
  },
});
