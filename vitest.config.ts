import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

// Pure functions: their test files share a process, so that a module is loaded once per worker and not once per
// file (docs/decisions/suite-time.md). Not among them: two that start servers, and hostile.test.ts, which measures
// the processor time of its process. The time-out is long because these only compute: a short one finds nothing but
// a busy machine.
const pure = 'test/{dialects,json,policy}/**/!(custom-tools|requests|hostile.slow).test.ts';

// What the OpenAI SDK does with answers, once more with its newest line: `openai` is the last one for Node 20.
const withOpenAiSdk = [
  'test/dialects/translation/sdk.test.ts',
  'test/gateway/{cut-streams,limits,sdk,translation-matrix}.test.ts',
  'test/sandbox/**/{chat,embeddings,responses,sdk-helpers}.test.ts',
];

export default defineConfig({
  test: {
    globalSetup: ['test/kit/temporary-folder.ts', 'test/kit/build.ts'],
    setupFiles: ['test/kit/leftovers.ts'],
    testTimeout: 20_000,
    hookTimeout: 30_000,
    // A poll ends when it finds what it looks for; only a failing one waits for all of this.
    expect: { poll: { timeout: 15_000 } },
    // Many tests wait for time-outs and other programs: a core is not busy with one file at a time.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: [
      { extends: true, test: { name: 'pure', include: [pure], isolate: false, testTimeout: 120_000 } },
      { extends: true, test: { name: 'isolated', include: ['test/**/*.test.ts'], exclude: [pure] } },
      {
        extends: true,
        resolve: { alias: [{ find: /^openai(?=\/|$)/, replacement: 'openai-7' }] },
        test: { name: 'openai-7', include: withOpenAiSdk },
      },
    ],
  },
});
