import { Automaton, type State, unknownCell } from './automaton.ts';
import { type Character, readCharacter } from './code-points.ts';
import type { Fold } from './fold.ts';
import type { Nfa } from './nfa.ts';

export const views = ['exact', 'folded'] as const;
export type View = (typeof views)[number];

/** A state of each automaton. */
export interface Standing {
  readonly exact: State;
  readonly folded: State;
}

/** Bytes of a text: UTF-8, with JSON escapes or without. */
export interface TextBytes {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
  readonly isEscaped: boolean;
}

/**
 * Runs both views' automata over the bytes of texts, side by side in one loop: each waits for its table
 * most of the time, so two take hardly longer than one.
 */
export class Scanner {
  readonly exact: Automaton;
  readonly folded: Automaton;
  readonly #fold: Fold;
  readonly #seenExact: Uint8Array;
  readonly #seenFolded: Uint8Array;
  readonly #character: Character = { codePoint: 0, length: 0 };
  /** Needles of the last text, each once; empty again with the next scan. */
  readonly found: Readonly<Record<View, number[]>> = { exact: [], folded: [] };
  #exactAt = 0;
  #foldedAt = 0;

  constructor(machines: { exact: Nfa; folded: Nfa; fold: Fold; needleCount: number }) {
    this.exact = new Automaton({ nfa: machines.exact });
    this.folded = new Automaton({ nfa: machines.folded, fold: machines.fold });
    this.#fold = machines.fold;
    this.#seenExact = new Uint8Array(machines.needleCount);
    this.#seenFolded = new Uint8Array(machines.needleCount);
  }

  get start(): Standing {
    return { exact: this.exact.start, folded: this.folded.start };
  }

  /**
   * Reads a whole text from its beginning to its end. Tells whether any needle is in it; which ones is in
   * `found`, and where the automata stand then in `after`, until the next scan.
   */
  scan(text: TextBytes): boolean {
    this.#forget();
    this.#run(text);
    this.#end();
    return this.found.exact.length > 0 || this.found.folded.length > 0;
  }

  /** Where the automata stand after the last text, for texts that follow. */
  after(): Standing {
    return { exact: this.exact.stateAt(this.#exactAt), folded: this.folded.stateAt(this.#foldedAt) };
  }

  /** The states after one character; the needles told by the way are in the states. */
  step(view: View, state: State, codePoint: number, onState: (state: State) => void): State {
    if (view === 'exact') {
      const next = this.exact.next(state, codePoint);
      onState(next);
      return next;
    }
    const folded = this.#fold.point(codePoint);
    if (folded === 0) return state;
    let next = state;
    for (const point of folded > 0 ? [folded] : (this.#fold.sequences[-1 - folded] as readonly number[])) {
      next = this.folded.next(next, point);
      onState(next);
    }
    return next;
  }

  #run({ bytes, start, end, isEscaped }: TextBytes): void {
    const { exact, folded } = this;
    const exactClasses = isEscaped ? exact.escapedClasses : exact.byteClasses;
    const foldedClasses = isEscaped ? folded.escapedClasses : folded.byteClasses;
    let exactTable = exact.table;
    let foldedTable = folded.table;
    let exactAt = exact.start.offset;
    let foldedAt = folded.start.offset;
    let at = start;
    for (;;) {
      while (at < end) {
        const byte = bytes[at] as number;
        const nextExact = exactTable[exactAt + (exactClasses[byte] as number)] as number;
        const nextFolded = foldedTable[foldedAt + (foldedClasses[byte] as number)] as number;
        if ((nextExact | nextFolded) < 0) break;
        exactAt = nextExact;
        foldedAt = nextFolded;
        at += 1;
      }
      if (at >= end) break;
      const byteClass = exactClasses[bytes[at] as number] as number;
      if (byteClass === 0) {
        readCharacter(bytes, at, isEscaped, this.#character);
        exactAt = this.#stepExact(exactAt, exact.alphabet.of(this.#character.codePoint));
        foldedAt = this.#stepPoint(foldedAt, this.#character.codePoint);
        at += this.#character.length;
      } else {
        exactAt = this.#stepExact(exactAt, byteClass);
        foldedAt = this.#stepFolded(foldedAt, foldedClasses[bytes[at] as number] as number);
        at += 1;
      }
      exactTable = exact.table;
      foldedTable = folded.table;
    }
    this.#exactAt = exactAt;
    this.#foldedAt = foldedAt;
  }

  /** Needles that end where the text does. Looking may begin the table anew, so the places are looked up again. */
  #end(): void {
    const { exact, folded } = this;
    if (exact.mayEnd(this.#exactAt)) {
      const state = exact.stateAt(this.#exactAt);
      this.#note('exact', exact.end(state));
      this.#exactAt = exact.live(state).offset;
    }
    if (folded.mayEnd(this.#foldedAt)) {
      const state = folded.stateAt(this.#foldedAt);
      this.#note('folded', folded.end(state));
      this.#foldedAt = folded.live(state).offset;
    }
  }

  #stepExact(offset: number, column: number): number {
    const { exact } = this;
    const known = exact.table[offset + column] as number;
    if (known >= 0) return known;
    const state =
      known < unknownCell ? exact.stateAt(-2 - known) : exact.nextByClass(exact.stateAt(offset), column);
    if (state.needles.length > 0) this.#note('exact', state.needles);
    return state.offset;
  }

  #stepFolded(offset: number, column: number): number {
    const { folded } = this;
    const known = folded.table[offset + column] as number;
    if (known >= 0) return known;
    const state =
      known < unknownCell ? folded.stateAt(-2 - known) : folded.nextByClass(folded.stateAt(offset), column);
    if (state.needles.length > 0) this.#note('folded', state.needles);
    return state.offset;
  }

  #stepPoint(offset: number, codePoint: number): number {
    const folded = this.#fold.point(codePoint);
    if (folded === 0) return offset;
    if (folded > 0) return this.#stepFolded(offset, this.folded.alphabet.of(folded));
    let next = offset;
    for (const point of this.#fold.sequences[-1 - folded] as readonly number[]) {
      next = this.#stepFolded(next, this.folded.alphabet.of(point));
    }
    return next;
  }

  #note(view: View, needles: readonly number[]): void {
    const seen = view === 'exact' ? this.#seenExact : this.#seenFolded;
    for (const needle of needles) {
      if (seen[needle] === 1) continue;
      seen[needle] = 1;
      this.found[view].push(needle);
    }
  }

  #forget(): void {
    const { exact, folded } = this.found;
    if (exact.length > 0) {
      for (const needle of exact) this.#seenExact[needle] = 0;
      exact.length = 0;
    }
    if (folded.length > 0) {
      for (const needle of folded) this.#seenFolded[needle] = 0;
      folded.length = 0;
    }
  }
}
