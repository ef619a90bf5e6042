/** One state: the nodes that are alive, what stood before, and the patterns that ended just before the last character. */
export interface State {
  readonly threads: Int32Array;
  readonly context: number;
  readonly patterns: readonly number[];
  readonly offset: number;
  readonly epoch: number;
}

export function distinct(threads: Iterable<number>): Int32Array {
  return Int32Array.from(new Set(threads)).sort();
}

export function hashOf(threads: Int32Array, context: number, patterns: readonly number[]): number {
  let hash = context + 1;
  for (const thread of threads) hash = (Math.imul(hash, 0x01000193) ^ thread) | 0;
  for (const pattern of patterns) hash = (Math.imul(hash, 0x01000193) ^ ~pattern) | 0;
  return hash;
}

export function isSame(
  state: State,
  threads: Int32Array,
  context: number,
  patterns: readonly number[],
): boolean {
  return (
    state.context === context &&
    state.threads.length === threads.length &&
    state.patterns.length === patterns.length &&
    state.threads.every((thread, at) => thread === threads[at]) &&
    state.patterns.every((pattern, at) => pattern === patterns[at])
  );
}
