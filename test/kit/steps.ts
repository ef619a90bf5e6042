import { Session } from 'node:inspector/promises';

// What a piece of the source costs, without a clock: how often each block of code in `src/` runs, as V8 counts it, and
// how much the built-in functions that loop by themselves have looped. The same every time, however busy the machine is.

/** By place: the file, the function and the block in it, or the name of a built-in function. */
export type Steps = ReadonlyMap<string, number>;

export interface StepCounter {
  /** Counts from here to the end of `run`. */
  count(run: () => unknown): Promise<Steps>;
  close(): Promise<void>;
}

export async function createStepCounter(): Promise<StepCounter> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  return {
    async count(run) {
      await session.post('Profiler.takePreciseCoverage');
      const loops = countLoops();
      try {
        await run();
      } finally {
        loops.restore();
      }
      const { result } = await session.post('Profiler.takePreciseCoverage');
      const steps = new Map(loops.counts);
      for (const { url, functions } of result) {
        const [, file] = sourceFile.exec(url) ?? [];
        if (file === undefined) continue;
        for (const { functionName, ranges } of functions) {
          for (const { startOffset, endOffset, count } of ranges) {
            if (count > 0)
              steps.set(`${file} ${functionName || '(anonymous)'} ${startOffset}-${endOffset}`, count);
          }
        }
      }
      return steps;
    },
    async close() {
      await session.post('Profiler.stopPreciseCoverage');
      session.disconnect();
    },
  };
}

const sourceFile = /\/compiled-source\/(?!packages\/)(.+)\.mjs$/;

/** Growth up to here passes for linear: of four times the bytes, an `n log n` makes five times the steps. */
const maxGrowth = 6;

/**
 * Where four times the bytes take much more than four times the steps; a quadratic loop takes sixteen times. What runs less
 * often than once in so many bytes is no matter, and appears only in the larger input in places.
 */
export function steepPlaces(small: Steps, large: Steps, bytes: number): readonly SteepPlace[] {
  const least = bytes / 16;
  return [...large]
    .map(([name, count]) => ({ name, growth: count / Math.max(small.get(name) ?? 0, least) }))
    .filter(({ growth }) => growth > maxGrowth);
}

interface SteepPlace {
  readonly name: string;
  readonly growth: number;
}

type Loop = (this: { readonly length: number }, ...given: unknown[]) => unknown;

/** Built-in functions whose loops no block counts, and how far one call of each loops. */
const built: readonly (readonly [
  prototype: object,
  name: string,
  loops: (self: { readonly length: number }, given: readonly unknown[], result: unknown) => number,
])[] = [
  ...(['includes', 'indexOf', 'lastIndexOf'] as const).map(
    (name) => [Array.prototype, name, (self: { length: number }) => self.length] as const,
  ),
  ...(['concat', 'slice', 'flat', 'splice', 'toSorted'] as const).map(
    (name) =>
      [
        Array.prototype,
        name,
        (_: unknown, __: unknown, result: unknown) => (result as unknown[]).length,
      ] as const,
  ),
  ...(['shift', 'unshift'] as const).map(
    // V8 moves the beginning of an array instead of its elements, up to some thousands of them.
    (name) => [Array.prototype, name, () => 1] as const,
  ),
  ...(['split', 'replace', 'replaceAll', 'toLowerCase', 'trim'] as const).map(
    (name) => [String.prototype, name, (self: { length: number }) => self.length] as const,
  ),
  ...(['slice', 'subarray'] as const).map((name) => [Buffer.prototype, name, () => 1] as const),
];

function countLoops(): { readonly counts: ReadonlyMap<string, number>; restore(): void } {
  const counts = new Map<string, number>();
  const originals = built.map(([prototype, name, loops]) => {
    const original = Reflect.get(prototype, name) as Loop;
    const counted: Loop = function (...given) {
      const result = original.apply(this, given);
      counts.set(name, (counts.get(name) ?? 0) + loops(this, given, result));
      return result;
    };
    Object.defineProperty(prototype, name, { value: counted, writable: true, configurable: true });
    return () =>
      Object.defineProperty(prototype, name, { value: original, writable: true, configurable: true });
  });
  return {
    counts,
    restore: () => {
      for (const restore of originals) restore();
    },
  };
}
