import type { Fold } from '../fold/fold.ts';
import type { Reading } from '../fold/fold-character.ts';
import { LazyDfa, type State } from './lazy-dfa.ts';
import type { Nfa } from './nfa.ts';
import {
  ProductDfa,
  type ProductState,
  type StatePair,
  type StepWithPatterns,
  unknownCell,
  WideTransitions,
} from './product-dfa.ts';
import { Simulation } from './simulation.ts';
import { type Character, readCharacter, type TextBytes } from './text-bytes.ts';

export const letterU = 0x75;
export const lastAscii = 0x7f;
const backslash = 0x5c;

export interface ReaderParts {
  readonly exact: Nfa;
  readonly folded: Nfa;
  readonly fold: Fold;
}

/** For tests; by default the tables set them themselves. */
export interface Limits {
  readonly cellLimit?: number;
  readonly roomLimit?: number;
}

/** Reads bytes one by one through both views' automata, and notes the patterns that end on the way. */
export class ByteReader {
  readonly exact: LazyDfa;
  readonly folded: LazyDfa;
  readonly product: ProductDfa;
  /** The patterns of the current text. */
  readonly found = new FoundPatterns();
  readonly #fold: Fold;
  readonly #character: Character = { codePoint: 0, length: 0 };
  /** Patterns that ended on the way of one step of the folded view. */
  readonly #ended: number[] = [];
  readonly #noteFolded = (state: State) => {
    this.#ended.push(...state.patterns);
  };
  readonly #wide = new WideTransitions();
  readonly #simulations: Readonly<Record<TextView, Simulation[]>> = { exact: [], folded: [] };
  #texts = 0;
  #readTo = 0;

  constructor({ exact, folded, fold }: ReaderParts, limits: Limits) {
    this.exact = new LazyDfa({ nfa: exact, ...limits });
    this.folded = new LazyDfa({ nfa: folded, fold, ...limits });
    this.#fold = fold;
    this.product = new ProductDfa(this.exact, this.folded, limits);
  }

  /** A text begins. */
  begin(): void {
    this.#texts += 1;
    this.found.clear();
  }

  /** The states after one character; the patterns found on the way are in the states. */
  step(view: TextView, state: State, codePoint: number, onState: (state: State) => void): State {
    if (view === 'exact') {
      const next = this.exact.next(state, codePoint);
      onState(next);
      return next;
    }
    const folded = this.#fold.point(codePoint);
    if (folded === 0) return state;
    if (folded > 0) {
      const next = this.folded.next(state, folded);
      onState(next);
      return next;
    }
    let merged: State | undefined;
    for (const reading of this.#fold.readings[-1 - folded] as readonly Reading[]) {
      let next = state;
      for (const point of reading) {
        next = this.folded.next(next, point);
        onState(next);
      }
      merged = merged === undefined ? next : this.folded.merge(merged, next);
    }
    return merged ?? state;
  }

  /** Where the automata stand after a whole text in which nothing ends; undefined if a plain look-up can't say so. */
  readQuiet({ bytes, start, end }: TextBytes): ProductState | undefined {
    this.begin();
    const { product } = this;
    let offset = product.start();
    const { table } = product;
    for (let at = start; at < end; at += 1) {
      const byte = bytes[at] as number;
      if (byte > lastAscii) return undefined;
      offset = table[offset + byte] as number;
      if (offset < 0) return undefined;
    }
    const pair = product.at(offset);
    return pair.isQuietAtEnd ? pair : undefined;
  }

  /** Reads bytes one by one; they must begin and end between characters. */
  read(bytes: Uint8Array, start: number, end: number, from: number): number {
    return this.#readUntil(bytes, start, end, from, false);
  }

  /**
   * Reads the rest of a text, and notes the patterns that end with it; returns where the automata stand then, or
   * undefined if there was no room for all of it and prefilters can't be simulated.
   */
  readRest(bytes: Uint8Array, start: number, end: number, from: number): StatePair | undefined {
    const offset = this.#readUntil(bytes, start, end, from, true);
    if (this.#readTo >= end) return this.#end(offset);
    if (this.folded.prefiltered.length > 0) return undefined;
    return this.#simulate(bytes, this.#readTo, end, this.product.at(offset));
  }

  /** One of some simulations of a view's automaton, until it is asked for again. */
  simulation(view: TextView, number = 0): Simulation {
    const all = this.#simulations[view];
    let simulation = all[number];
    if (simulation === undefined) {
      simulation = new Simulation(this[view], view === 'folded' ? this.#fold : undefined);
      all[number] = simulation;
    }
    return simulation;
  }

  #simulate(bytes: Uint8Array, start: number, end: number, from: StatePair): StatePair {
    const { exact, folded } = this.beginSimulation(from);
    const exactClasses = this.exact.byteClasses;
    const foldedClasses = this.folded.byteClasses;
    const character = this.#character;
    let at = start;
    while (at < end) {
      const byte = bytes[at] as number;
      if (byte <= lastAscii && byte !== backslash) {
        exact.advance(exactClasses[byte] as number);
        folded.advance(foldedClasses[byte] as number);
        at += 1;
        continue;
      }
      readCharacter(bytes, at, character);
      exact.advancePoint(character.codePoint);
      folded.advancePoint(character.codePoint);
      at += character.length;
    }
    exact.end();
    folded.end();
    return { exact: exact.state, folded: folded.state };
  }

  /** Simulations of both automata, which note the patterns that end. */
  beginSimulation(from: StatePair): Readonly<Record<TextView, Simulation>> {
    const [exact, folded] = [this.simulation('exact'), this.simulation('folded')];
    exact.begin(from.exact, (patterns) => this.found.note('exact', patterns));
    folded.begin(from.folded, (patterns) => this.found.note('folded', patterns));
    return { exact, folded };
  }

  /** Reads up to `#readTo`, which is the end unless it stops because the table is full; returns where that leads. */
  #readUntil(bytes: Uint8Array, start: number, end: number, from: number, stopsWhenFull: boolean): number {
    const product = this.product;
    let { table } = product;
    let offset = from;
    let at = start;
    for (;;) {
      while (at < end) {
        const byte = bytes[at] as number;
        if (byte > lastAscii) break;
        const next = table[offset + byte] as number;
        if (next < 0) break;
        offset = next;
        at += 1;
      }
      if (at >= end) {
        this.#readTo = at;
        return offset;
      }
      const byte = bytes[at] as number;
      if (byte <= lastAscii) {
        const next = table[offset + byte] as number;
        if (next < unknownCell) {
          offset = this.#notePatterns(-2 - next);
          at += 1;
          continue;
        }
        const pair = product.at(offset);
        if (stopsWhenFull && product.isFull) {
          this.#readTo = pair.escaped === undefined ? at : at - 1;
          return pair.escaped?.offset ?? offset;
        }
        if (pair.escaped === undefined || byte !== letterU) {
          offset = this.#notePatterns(product.next(pair, byte).offset);
          table = product.table;
          at += 1;
          continue;
        }
        offset = pair.escaped.offset;
        at -= 1;
      }
      readCharacter(bytes, at, this.#character);
      offset = this.#stepWide(offset, this.#character.codePoint);
      table = product.table;
      at += this.#character.length;
    }
  }

  /** Reads one character of a text that is not written as JSON. */
  advance(offset: number, codePoint: number): number {
    if (codePoint > lastAscii) return this.#stepWide(offset, codePoint);
    // In the table a backslash begins an escape.
    const from = codePoint === backslash ? this.#stepAscii(offset, backslash) : offset;
    return this.#stepAscii(from, codePoint);
  }

  #stepAscii(offset: number, byte: number): number {
    const { product } = this;
    const next = product.table[offset + byte] as number;
    if (next >= 0) return next;
    return this.#notePatterns(next < unknownCell ? -2 - next : product.next(product.at(offset), byte).offset);
  }

  /** Notes the patterns of a pair. */
  #notePatterns(offset: number): number {
    const pair = this.product.at(offset);
    if (pair.hasPatterns && pair.notedIn !== this.#texts) {
      pair.notedIn = this.#texts;
      this.found.note('exact', pair.exact.patterns);
      this.found.note('folded', pair.folded.patterns);
    }
    return offset;
  }

  /** A character above ASCII, which may fold to none or several; the resulting state is cached. */
  #stepWide(offset: number, codePoint: number): number {
    const product = this.product;
    const { epoch } = product;
    const known = this.#wide.recall(offset, codePoint, epoch);
    if (known >= 0) return known;
    const withPatterns = this.#wide.recallPatterns(offset, codePoint, epoch);
    if (withPatterns !== undefined) return this.#note(withPatterns);
    const before = product.at(offset);
    const exact = this.exact.next(before.exact, codePoint);
    this.#ended.length = 0;
    const folded = this.step('folded', before.folded, codePoint, this.#noteFolded);
    const to = product.pair(exact, folded).offset;
    const step = { epoch: product.epoch, to, exact: exact.patterns, folded: [...this.#ended] };
    // If the table was started over meanwhile, the offset is that of another pair.
    if (product.epoch === epoch) {
      const isQuiet = step.exact.length === 0 && step.folded.length === 0;
      if (isQuiet) this.#wide.note(offset, codePoint, step);
      else this.#wide.notePatterns(offset, codePoint, step);
    }
    return this.#note(step);
  }

  #note({ to, exact, folded }: StepWithPatterns): number {
    this.found.note('exact', exact);
    this.found.note('folded', folded);
    return to;
  }

  /** The text ends. */
  #end(offset: number): StatePair {
    const pair = this.product.at(offset);
    if (pair.isQuietAtEnd) return pair;
    const exact = this.exact.end(pair.exact);
    const folded = this.folded.end(pair.folded);
    this.found.note('exact', exact);
    this.found.note('folded', folded);
    pair.isQuietAtEnd = exact.length === 0 && folded.length === 0;
    return pair;
  }
}

export const views = ['exact', 'folded'] as const;
export type TextView = (typeof views)[number];

/** The patterns found in one text, per view. */
export class FoundPatterns {
  readonly exact = new Set<number>();
  readonly folded = new Set<number>();

  get isEmpty(): boolean {
    return this.exact.size === 0 && this.folded.size === 0;
  }

  note(view: TextView, patterns: readonly number[]): void {
    for (const pattern of patterns) this[view].add(pattern);
  }

  clear(): void {
    // Nearly always empty, and then clearing costs more than looking.
    if (this.exact.size > 0) this.exact.clear();
    if (this.folded.size > 0) this.folded.clear();
  }
}
