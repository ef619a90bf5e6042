import type { Fold } from '../fold/fold.ts';
import type { Reading } from '../fold/fold-character.ts';
import { type Character, plainEscapes, readCharacter } from './code-points.ts';
import type { State } from './dfa-state.ts';
import { FoundPatterns, type View } from './found-patterns.ts';
import { LazyDfa } from './lazy-dfa.ts';
import type { Nfa } from './nfa.ts';
import { ProductDfa, unknownCell } from './product-dfa.ts';
import { createParts, partCount, readParts, shortestBlock, wordBytes } from './speculative-scan.ts';
import { type StepWithPatterns, WideTransitions } from './wide-transitions.ts';

const letterU = 0x75;
const lastAscii = 0x7f;

/** Bytes that the parts must have read together for the parallel read to go on. */
const leastProgress = 32;
/** Bytes after which parts should have met; where they don't, texts are read one by one for so many scans. */
const patience = 128;
const pause = 256;

/** A state of each automaton. */
export interface StatePair {
  readonly exact: State;
  readonly folded: State;
}

/** A text as it stands in a JSON string: UTF-8, in which every backslash begins an escape. */
export interface TextBytes {
  readonly bytes: Uint8Array;
  /** The same bytes, to be read by the word. */
  readonly words: DataView;
  readonly start: number;
  readonly end: number;
}

/** Runs both views' automata over the bytes of texts, in one loop. */
export class Scanner {
  readonly exact: LazyDfa;
  readonly folded: LazyDfa;
  readonly #fold: Fold;
  readonly #character: Character = { codePoint: 0, length: 0 };
  /** The patterns of the last text; valid until the next scan. */
  readonly found: FoundPatterns;
  readonly #product: ProductDfa;
  /** Patterns that ended on the way of one step of the folded view. */
  readonly #ended: number[] = [];
  readonly #noteFolded = (state: State) => {
    this.#ended.push(...state.patterns);
  };
  readonly #wide: WideTransitions;
  #at = 0;
  #scans = 0;
  /** The scan number from which texts are read in parts again. */
  #patience = 0;
  readonly #parts = createParts();
  #after: StatePair;

  /** The tables hold so many cells each, or as many as is usual. */
  constructor(
    { exact, folded, fold, patternCount }: { exact: Nfa; folded: Nfa; fold: Fold; patternCount: number },
    limits: { readonly cellLimit?: number } = {},
  ) {
    this.exact = new LazyDfa({ nfa: exact, ...limits });
    this.folded = new LazyDfa({ nfa: folded, fold, ...limits });
    this.#fold = fold;
    this.#product = new ProductDfa(this.exact, this.folded, { escapes: plainEscapes, ...limits });
    this.#wide = new WideTransitions({ exact: this.exact.alphabet, folded: this.folded.alphabet, fold });
    this.#after = this.start;
    this.found = new FoundPatterns(patternCount);
  }

  get start(): StatePair {
    return { exact: this.exact.start, folded: this.folded.start };
  }

  /**
   * Reads a whole text from its beginning to its end. Returns whether any pattern is in it; which ones is in
   * `found`, and where the automata stand then in `after`, until the next scan.
   */
  scan(text: TextBytes): boolean {
    this.#scans += 1;
    this.found.clear();
    this.#run(text);
    this.#end();
    return !this.found.isEmpty;
  }

  /** Where the automata stand after the last text, for texts that follow. */
  after(): StatePair {
    return this.#after;
  }

  /** The states after one character; the patterns found on the way are in the states. */
  step(view: View, state: State, codePoint: number, onState: (state: State) => void): State {
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

  #run(text: TextBytes): void {
    const { start, end } = text;
    const product = this.#product;
    const guess = product.spaced();
    const { age } = product;
    let offset = product.start();
    let at = start;
    // All offsets become invalid when the table is started over, which its age shows.
    while (end - at >= shortestBlock && product.age === age && this.#patience <= this.#scans) {
      const range = { start: at, end, offset, guess };
      if (!readParts(product.table, text, range, this.#parts)) break;
      offset = this.#joinParts(text, guess);
      at = (this.#parts.starts[partCount - 1] as number) + this.#parts.length;
      if (this.#parts.isStopped && product.age === age) offset = this.#fillGuesses(text, offset);
      if (this.#parts.length < leastProgress) break;
    }
    this.#at = this.#read(text, at, end, offset);
  }

  /** Goes through what was read in parts, and reads what lies between them; returns where that leads. */
  #joinParts(text: TextBytes, guess: number): number {
    const product = this.#product;
    const { starts, offsets, length } = this.#parts;
    const { age } = product;
    const { bytes } = text;
    let offset = offsets[0] as number;
    let at = (starts[0] as number) + length;
    for (let part = 1; part < partCount; part += 1) {
      const start = starts[part] as number;
      const end = start + length;
      offset = this.#read(text, at, start, offset);
      at = start;
      let guessed = guess;
      // Once both are in the same state at the same position, they continue identically.
      while (at < end && offset !== guessed) {
        const byte = bytes[at] as number;
        guessed = product.table[guessed + byte] as number;
        const next = product.table[offset + byte] as number;
        offset = next >= 0 ? next : this.#read(text, at, at + 1, offset);
        at += 1;
        if (at - start === patience) this.#patience = this.#scans + pause;
      }
      if (product.age === age && offset === guessed) offset = offsets[part] as number;
      else offset = this.#read(text, at, end, offset);
      at = end;
    }
    return offset;
  }

  /**
   * Fills the cells at which guessed parts have stopped: what is really read may never come by them, and every such
   * part would stop there again. Returns where the automata stand then.
   */
  #fillGuesses({ bytes }: TextBytes, offset: number): number {
    const product = this.#product;
    const { age } = product;
    const { starts, offsets, length } = this.#parts;
    const standing = product.at(offset);
    for (let part = 1; part < partCount; part += 1) {
      const from = (starts[part] as number) + length;
      let guessed = offsets[part] as number;
      for (let at = from; at < from + wordBytes && guessed >= 0; at += 1) {
        guessed = this.#filled(guessed, bytes[at] as number);
        if (product.age !== age) return product.live(standing).offset;
      }
    }
    return offset;
  }

  /** The cell of a byte, computed if the pair determines it. */
  #filled(offset: number, byte: number): number {
    const product = this.#product;
    if (byte > lastAscii) return unknownCell;
    const next = product.table[offset + byte] as number;
    const pair = product.at(offset);
    if (next !== unknownCell || (pair.escaped !== undefined && byte === letterU)) return next;
    const { offset: filled, hasPatterns } = product.next(pair, byte);
    return hasPatterns ? unknownCell : filled;
  }

  /** Reads bytes one by one; they must begin and end between characters. */
  #read({ bytes }: TextBytes, start: number, end: number, from: number): number {
    const product = this.#product;
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
      if (at >= end) return offset;
      const byte = bytes[at] as number;
      if (byte <= lastAscii) {
        const next = table[offset + byte] as number;
        if (next < unknownCell) {
          offset = this.#notePatterns(-2 - next);
          at += 1;
          continue;
        }
        const pair = product.at(offset);
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

  /** Notes the patterns of a pair. */
  #notePatterns(offset: number): number {
    const pair = this.#product.at(offset);
    if (pair.hasPatterns && pair.notedIn !== this.#scans) {
      pair.notedIn = this.#scans;
      this.found.note('exact', pair.exact.patterns);
      this.found.note('folded', pair.folded.patterns);
    }
    return offset;
  }

  /** A character above ASCII, which may fold to none or several; the resulting state is cached. */
  #stepWide(offset: number, codePoint: number): number {
    const product = this.#product;
    const { age } = product;
    const known = this.#wide.recall(offset, codePoint, age);
    if (known >= 0) return known;
    const withPatterns = this.#wide.recallPatterns(offset, codePoint, age);
    if (withPatterns !== undefined) return this.#note(withPatterns);
    const before = product.at(offset);
    const exact = this.exact.next(before.exact, codePoint);
    this.#ended.length = 0;
    const folded = this.step('folded', before.folded, codePoint, this.#noteFolded);
    const to = product.pair(exact, folded).offset;
    const step = { age: product.age, to, exact: exact.patterns, folded: [...this.#ended] };
    // If the table was started over meanwhile, the offset is that of another pair.
    if (product.age === age) {
      const isQuiet = step.exact.length === 0 && step.folded.length === 0;
      if (isQuiet) this.#wide.note({ offset, codePoint, age }, to);
      else this.#wide.notePatterns(offset, codePoint, step);
    }
    return this.#note(step);
  }

  #note({ to, exact, folded }: StepWithPatterns): number {
    this.found.note('exact', exact);
    this.found.note('folded', folded);
    return to;
  }

  /** Patterns that end at the end of the text. */
  #end(): void {
    const pair = this.#product.at(this.#at);
    this.#after = pair;
    if (pair.isQuietAtEnd) return;
    const exact = this.exact.end(pair.exact);
    const folded = this.folded.end(pair.folded);
    pair.isQuietAtEnd = exact.length === 0 && folded.length === 0;
    this.found.note('exact', exact);
    this.found.note('folded', folded);
  }
}
