import { joinOverlapping, type Range } from '../detectors/detector.ts';
import type { Fold } from '../fold/fold.ts';
import type { Reading } from '../fold/fold-character.ts';
import { contexts, holding, isWordCodePoint } from './lazy-dfa.ts';
import { endPoint, type Nfa, NfaSteps } from './nfa.ts';

const space = 0x20;
/** More than any code point, to make one key of two numbers. */
const keyWidth = 0x200000;
/** Most characters whose beginnings are kept: requests choose them, and this outlives requests. */
const room = 4_096;

/** Where a simulation stands: NFA nodes that are alive, with the earliest place where each may have begun. */
interface Position {
  readonly threads: ReadonlyMap<number, number>;
  /** What may have stood before, as bits. */
  readonly context: number;
}

const noThreads: Position['threads'] = new Map();

/**
 * Finds where the pattern of an NFA is in texts whose characters have several readings, whatever mixture of them it
 * takes. One pass over the characters, all readings side by side as the DFA has them; of matches that end in the same
 * place the longest is taken, and those that overlap become one.
 */
export class MixedReadings {
  readonly #steps: NfaSteps;
  readonly #starts: readonly number[];
  readonly #fold: Fold;
  readonly #begun = new Map<number, readonly number[]>();
  #found: Range[] = [];

  constructor(nfa: Nfa, fold: Fold) {
    this.#steps = new NfaSteps(nfa.nodes);
    this.#starts = nfa.starts;
    this.#fold = fold;
  }

  find(text: string): readonly Range[] {
    let position: Position = { threads: noThreads, context: contexts.begin };
    let at = 0;
    for (const character of text) {
      const end = at + character.length;
      const folded = this.#fold.point(character.codePointAt(0) as number);
      const whole = { start: at, end };
      if (folded > 0) position = this.#step(position, folded, { start: at, end: at });
      else if (folded < 0) position = this.#readAll(position, this.#fold.readings[-1 - folded] ?? [], whole);
      at = end;
    }
    this.#step(position, endPoint, { start: at, end: at });
    const found = this.#found;
    this.#found = [];
    return joinOverlapping(found);
  }

  #readAll(from: Position, readings: readonly Reading[], { start, end }: Range): Position {
    return merged(
      readings.map((reading) => {
        let to = from;
        reading.forEach((codePoint, index) => {
          // What ends inside of a character ends with it.
          to = this.#step(to, codePoint, { start, end: index === 0 ? start : end });
        });
        return to;
      }),
    );
  }

  /** Reads a code point; `start` is where what begins with it begins, `end` where ends what ends before it. */
  #step(from: Position, codePoint: number, { start, end }: Range): Position {
    const isSpaceAgain = codePoint === space && (from.context & contexts.space) !== 0;
    if (isSpaceAgain && from.context === contexts.space) return from;
    const conditions = holding(from.context, codePoint);
    const threads = new Map<number, number>();
    for (const [node, began] of from.threads) {
      const after = this.#steps.advance([node], conditions, codePoint);
      if (after.patterns.length > 0) this.#found.push({ start: began, end });
      for (const next of after.threads) keepEarliest(threads, next, began);
    }
    for (const next of this.#begin(conditions, codePoint)) keepEarliest(threads, next, start);
    const position = { threads, context: contextOf(codePoint) };
    // Of a run of spaces only the first counts; here some readings have had it, others not.
    return isSpaceAgain ? merged([position, { ...from, context: contexts.space }]) : position;
  }

  /** The nodes after a character with which something begins; no pattern matches before that. */
  #begin(conditions: number, codePoint: number): readonly number[] {
    const key = conditions * keyWidth + codePoint;
    let begun = this.#begun.get(key);
    if (begun === undefined) {
      if (this.#begun.size >= room) this.#begun.clear();
      begun = this.#steps.advance(this.#starts, conditions, codePoint).threads;
      this.#begun.set(key, begun);
    }
    return begun;
  }
}

function contextOf(codePoint: number): number {
  if (codePoint === space) return contexts.space;
  return isWordCodePoint(codePoint) ? contexts.word : contexts.other;
}

function merged(positions: readonly Position[]): Position {
  const [first] = positions;
  if (positions.length === 1 && first !== undefined) return first;
  const threads = new Map<number, number>();
  let context = 0;
  for (const each of positions) {
    context |= each.context;
    for (const [node, began] of each.threads) keepEarliest(threads, node, began);
  }
  return { threads, context };
}

function keepEarliest(threads: Map<number, number>, node: number, began: number): void {
  const known = threads.get(node);
  if (known === undefined || began < known) threads.set(node, began);
}
