/** One state: the nodes that are alive, what stood before, and the needles that ended just before the last character. */
export interface State {
  readonly threads: Int32Array;
  readonly context: number;
  readonly needles: readonly number[];
  readonly offset: number;
  readonly epoch: number;
}

export function distinct(threads: Iterable<number>): Int32Array {
  return Int32Array.from(new Set(threads)).sort();
}

export function hashOf(threads: Int32Array, context: number, needles: readonly number[]): number {
  let hash = context + 1;
  for (const thread of threads) hash = (Math.imul(hash, 0x01000193) ^ thread) | 0;
  for (const needle of needles) hash = (Math.imul(hash, 0x01000193) ^ ~needle) | 0;
  return hash;
}

export function isSame(
  state: State,
  threads: Int32Array,
  context: number,
  needles: readonly number[],
): boolean {
  return (
    state.context === context &&
    state.threads.length === threads.length &&
    state.needles.length === needles.length &&
    state.threads.every((thread, at) => thread === threads[at]) &&
    state.needles.every((needle, at) => needle === needles[at])
  );
}
