import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { compiledSource, isCompiled } from './test/kit/compiled-source.ts';
import { openAi7, withOpenAi7 } from './test/kit/openai.ts';
import { scale } from './test/kit/scale.ts';

// What takes a real program, a real time-out or a generator at full scale: only `npm run test:all` runs it.
const slow = 'test/**/*.slow.test.ts';

// What counts the memory or the processor time of its process has that for itself.
const measured =
  'test/{lib/growing-buffer,http/body,inspector/locate,gateway/{linear,provider-faults,slow-readers},providers/{pool,read-whole}}.test.ts';

// What the OpenAI SDK does with answers, once more with its newest line: `openai` is the last one for Node 20.
const withOpenAiSdk = [
  'test/gateway/{limits,sdk,translation-matrix}.test.ts',
  'test/sandbox/{answers,chat,embeddings,responses}.test.ts',
];

const everywhere = {
  setupFiles: ['test/kit/leftovers.ts'],
  server: { deps: { external: [isCompiled] } },
  // Generators only compute: a short time-out finds nothing but a busy machine.
  testTimeout: scale(60_000, 120_000),
  hookTimeout: 30_000,
  // A poll ends when it finds what it looks for; only a failing one waits for all of this.
  expect: { poll: { timeout: 15_000 } },
};

// Files share a process, so that a module is loaded once per worker and not once per file
// (docs/decisions/suite-time.md): what a file changes for all, as the time zone, it changes back.
const sharedFiles = {
  plugins: [compiledSource],
  test: {
    ...everywhere,
    name: 'shared',
    include: ['test/**/*.test.ts'],
    exclude: [slow, measured, '**/node_modules/**'],
    isolate: false,
  },
};
const measuredFiles = {
  plugins: [compiledSource],
  test: { ...everywhere, name: 'measured', include: [measured] },
};
const slowFiles = {
  plugins: [compiledSource],
  test: { ...everywhere, name: 'slow', include: [slow] },
};
const filesOfOpenAi7 = {
  plugins: [compiledSource, withOpenAi7],
  test: { ...everywhere, name: 'openai-7', include: withOpenAiSdk, isolate: false },
};

/** The second tier is first: a run must not end with one long file and an idle core. */
class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isShort = ({ project }: TestSpecification) => Number(project.name !== slowFiles.test.name);
    return (await super.sort(files)).toSorted((one, other) => isShort(one) - isShort(other));
  }
}

export default defineConfig({
  test: {
    globalSetup: ['test/kit/temporary-folder.ts', 'test/kit/build.ts', 'test/kit/compiled-source.ts'],
    // Many tests wait for time-outs and other programs: with two files at a time for a core it is busy all the time.
    maxWorkers: Math.max(4, availableParallelism()),
    sequence: { sequencer: LongFilesFirst },
    projects: [sharedFiles, measuredFiles, slowFiles, ...(openAi7 === undefined ? [] : [filesOfOpenAi7])],
  },
});
