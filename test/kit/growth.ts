/** Milliseconds of the processor: what other programs take is not counted. */
export function cpuMs(run: () => unknown): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/**
 * How many times as long the larger input takes. The collector of garbage and the machine have their moments: what looks
 * slower than `limit` is measured again, five times at most.
 */
export function growth<Input>(
  run: (input: Input) => unknown,
  {
    small,
    large,
    limit,
  }: {
    readonly small: Input;
    readonly large: Input;
    readonly limit: number;
  },
): number {
  let best = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 6 && best >= limit; attempt += 1) {
    // Below a millisecond clocks say nothing.
    const smallMs = Math.max(
      Math.min(
        cpuMs(() => run(small)),
        cpuMs(() => run(small)),
      ),
      1,
    );
    best = Math.min(best, cpuMs(() => run(large)) / smallMs);
  }
  return best;
}
