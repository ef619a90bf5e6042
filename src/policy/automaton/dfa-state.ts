import { isWordCodePoint } from './alphabet.ts';
import { assertions, endPoint } from './nfa.ts';

/** The preceding context, as bits; for text with several readings, all contexts that are possible. */
export const contexts = { begin: 1, newline: 2, word: 4, other: 8, space: 16 } as const;

/** The nodes of an NFA that are alive, in order, and the preceding context. */
export interface Threads {
  readonly threads: Int32Array;
  readonly context: number;
}

/** The same as a state of an automaton, with the patterns that ended just before the last character. */
export interface State extends Threads {
  readonly patterns: readonly number[];
  readonly offset: number;
  readonly epoch: number;
}

/** Whether it is a state, or what a simulation has led to. */
export function isState(threads: Threads): threads is State {
  return 'offset' in threads;
}

/** The empty-width conditions that hold between the preceding context and the next character (or the end). */
export function holding(context: number, next: number): number {
  let conditions = 0;
  if ((context & contexts.begin) !== 0) conditions |= assertions.beginText | assertions.beginLine;
  if ((context & contexts.newline) !== 0) conditions |= assertions.beginLine;
  if (next === endPoint) conditions |= assertions.endText | assertions.endLine;
  if (next === 10) conditions |= assertions.endLine;
  const isWordNext = isWordCodePoint(next);
  if ((context & contexts.word) !== 0) {
    conditions |= isWordNext ? assertions.noWordBoundary : assertions.wordBoundary;
  }
  if ((context & ~contexts.word) !== 0) {
    conditions |= isWordNext ? assertions.wordBoundary : assertions.noWordBoundary;
  }
  return conditions;
}

/** All threads of some lists, sorted, each once. */
export function distinct(...lists: readonly ArrayLike<number>[]): Int32Array {
  let length = 0;
  for (const list of lists) length += list.length;
  const threads = new Int32Array(length);
  let at = 0;
  for (const list of lists) {
    threads.set(list, at);
    at += list.length;
  }
  threads.sort();
  let kept = 0;
  for (let from = 0; from < length; from += 1) {
    if (from > 0 && threads[from] === threads[from - 1]) continue;
    threads[kept] = threads[from] as number;
    kept += 1;
  }
  return kept === length ? threads : threads.slice(0, kept);
}

export function hashOf(threads: Int32Array, context: number, patterns: readonly number[]): number {
  let hash = context + 1;
  for (const thread of threads) hash = (Math.imul(hash, 0x01000193) ^ thread) | 0;
  for (const pattern of patterns) hash = (Math.imul(hash, 0x01000193) ^ ~pattern) | 0;
  return hash;
}

export function isSameState(
  state: State,
  threads: Int32Array,
  context: number,
  patterns: readonly number[],
): boolean {
  return (
    state.context === context &&
    state.threads.length === threads.length &&
    state.patterns.length === patterns.length &&
    isEqual(state.threads, threads) &&
    isEqual(state.patterns, patterns)
  );
}

function isEqual(one: ArrayLike<number>, other: ArrayLike<number>): boolean {
  for (let at = 0; at < one.length; at += 1) if (one[at] !== other[at]) return false;
  return true;
}
