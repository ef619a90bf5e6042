/** Milliseconds of the processor: what other programs take is not counted. */
export function cpuMs(run: () => unknown): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function bestMs(run: () => unknown): number {
  return Math.min(cpuMs(run), cpuMs(run));
}

function growthOf<Input>(run: (input: Input) => unknown, small: Input, large: Input): number {
  const smallMs = bestMs(() => run(small));
  // Below a millisecond clocks say nothing.
  return bestMs(() => run(large)) / Math.max(smallMs, 1);
}

/**
 * How many times as long the larger input takes. The collector of garbage has its moments: what looks slower than
 * `limit` is measured twice more.
 */
export function growth<Input>(
  run: (input: Input) => unknown,
  sizes: {
    readonly small: Input;
    readonly large: Input;
    readonly limit: number;
  },
): number {
  let best = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 3 && best >= sizes.limit; attempt += 1) {
    best = Math.min(best, growthOf(run, sizes.small, sizes.large));
  }
  return best;
}
