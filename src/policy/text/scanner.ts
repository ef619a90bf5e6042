import { Automaton, type State, unknownCell } from './automaton.ts';
import { type Character, readCharacter } from './code-points.ts';
import type { Fold } from './fold.ts';
import type { Nfa } from './nfa.ts';

export const views = ['exact', 'folded'] as const;
export type View = (typeof views)[number];

/** What ran through the scanner: needles by number. Told once per text, however often they occur. */
export interface ScanResult {
  readonly exact: readonly number[];
  readonly folded: readonly number[];
  /** Where both automata stand after the last character, for texts that follow. */
  readonly after: Standing;
}

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

const nothing: readonly number[] = [];

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
  #foundExact: number[] = [];
  #foundFolded: number[] = [];

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

  /** Reads a whole text from its beginning to its end. */
  scan(text: TextBytes): ScanResult {
    const after = this.#run(text);
    this.#note('exact', this.exact.end(after.exact));
    this.#note('folded', this.folded.end(after.folded));
    return { ...this.#take(), after };
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

  #run({ bytes, start, end, isEscaped }: TextBytes): Standing {
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
    return { exact: exact.stateAt(exactAt), folded: folded.stateAt(foldedAt) };
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
      (view === 'exact' ? this.#foundExact : this.#foundFolded).push(needle);
    }
  }

  #take(): { exact: readonly number[]; folded: readonly number[] } {
    const exact = this.#foundExact;
    const folded = this.#foundFolded;
    if (exact.length === 0 && folded.length === 0) return { exact: nothing, folded: nothing };
    for (const needle of exact) this.#seenExact[needle] = 0;
    for (const needle of folded) this.#seenFolded[needle] = 0;
    this.#foundExact = [];
    this.#foundFolded = [];
    return { exact, folded };
  }
}
