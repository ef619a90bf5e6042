import type { Range } from '../detector.ts';
import { type CharacterSet, isIn } from '../text/characters.ts';
import type { Run } from './format.ts';

/** Runs at least this long are not read again for each key that might begin in them. */
const longRun = 64;

/** Finds where runs of a set end; caches the last long one of each set. */
export class RunEnds {
  readonly #text: string;
  readonly #last = new Map<CharacterSet, Range>();

  constructor(text: string) {
    this.#text = text;
  }

  of({ set, most }: Run, start: number): number {
    const text = this.#text;
    const last = most > longRun ? this.#last.get(set) : undefined;
    if (last !== undefined && start >= last.start && start < last.end) return last.end;
    const limit = most > longRun ? text.length : Math.min(text.length, start + most);
    let end = start;
    while (end < limit && isIn(set, text.charCodeAt(end))) end += 1;
    if (most > longRun) this.#last.set(set, { start, end });
    return end;
  }
}
