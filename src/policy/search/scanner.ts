import { type Character, plainEscapes, readCharacter } from './code-points.ts';
import type { State } from './dfa-state.ts';
import type { Fold } from './fold.ts';
import type { Reading } from './fold-character.ts';
import { Automaton } from './lazy-dfa.ts';
import type { Nfa } from './nfa.ts';
import { PairTable, unknownPair } from './product-dfa.ts';
import { createParts, partCount, readParts, shortestBlock, wordBytes } from './speculative-scan.ts';
import { WideSteps } from './wide-transitions.ts';

export const views = ['exact', 'folded'] as const;
export type View = (typeof views)[number];

const letterU = 0x75;
const lastAscii = 0x7f;

/** Bytes that parts must have read together, for more of a text to be read so. */
const leastProgress = 32;
/** Bytes after which parts should have met; where they don't, texts are read one by one for so many scans. */
const patience = 128;
const pause = 256;

/** A state of each automaton. */
export interface Standing {
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
  readonly exact: Automaton;
  readonly folded: Automaton;
  readonly #fold: Fold;
  readonly #seenExact: Uint8Array;
  readonly #seenFolded: Uint8Array;
  readonly #character: Character = { codePoint: 0, length: 0 };
  /** Patterns of the last text, each once; empty again with the next scan. */
  readonly found: Readonly<Record<View, number[]>> = { exact: [], folded: [] };
  readonly #pairs: PairTable;
  readonly #noteFolded = (state: State) => {
    if (state.patterns.length > 0) this.#isTold = true;
    this.#note('folded', state.patterns);
  };
  #isTold = false;
  readonly #wideSteps: WideSteps;
  #at = 0;
  #scans = 0;
  /** The scan from which on texts are read in parts again. */
  #patience = 0;
  readonly #parts = createParts();
  #after: Standing;

  /** The tables hold so many cells each, or as many as is usual. */
  constructor(
    nfas: { exact: Nfa; folded: Nfa; fold: Fold; patternCount: number },
    limits: { readonly cellLimit?: number } = {},
  ) {
    this.exact = new Automaton({ nfa: nfas.exact, ...limits });
    this.folded = new Automaton({ nfa: nfas.folded, fold: nfas.fold, ...limits });
    this.#fold = nfas.fold;
    this.#pairs = new PairTable(this.exact, this.folded, { escapes: plainEscapes, ...limits });
    const { fold } = nfas;
    this.#wideSteps = new WideSteps({ exact: this.exact.alphabet, folded: this.folded.alphabet, fold });
    this.#after = this.start;
    this.#seenExact = new Uint8Array(nfas.patternCount);
    this.#seenFolded = new Uint8Array(nfas.patternCount);
  }

  get start(): Standing {
    return { exact: this.exact.start, folded: this.folded.start };
  }

  /**
   * Reads a whole text from its beginning to its end. Tells whether any pattern is in it; which ones is in
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
    return this.#after;
  }

  /** The states after one character; the patterns told by the way are in the states. */
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
    const pairs = this.#pairs;
    const guess = pairs.spaced();
    const { age } = pairs;
    let offset = pairs.start();
    let at = start;
    // All that is known of offsets is void when the table begins anew, which its age tells.
    while (end - at >= shortestBlock && pairs.age === age && this.#patience <= this.#scans) {
      const range = { start: at, end, offset, guess };
      if (!readParts(pairs.table, text, range, this.#parts)) break;
      offset = this.#joinParts(text, guess);
      at = (this.#parts.starts[partCount - 1] as number) + this.#parts.length;
      if (this.#parts.isStopped && pairs.age === age) offset = this.#fillGuesses(text, offset);
      if (this.#parts.length < leastProgress) break;
    }
    this.#at = this.#read(text, at, end, offset);
  }

  /** Goes through what was read in parts, and reads what lies between them; returns where that leads. */
  #joinParts(text: TextBytes, guess: number): number {
    const pairs = this.#pairs;
    const { starts, offsets, length } = this.#parts;
    const { age } = pairs;
    const { bytes } = text;
    let offset = offsets[0] as number;
    let at = (starts[0] as number) + length;
    for (let part = 1; part < partCount; part += 1) {
      const start = starts[part] as number;
      const end = start + length;
      offset = this.#read(text, at, start, offset);
      at = start;
      let guessed = guess;
      // From where both stand in the same place, they take the same way.
      while (at < end && offset !== guessed) {
        const byte = bytes[at] as number;
        guessed = pairs.table[guessed + byte] as number;
        const next = pairs.table[offset + byte] as number;
        offset = next >= 0 ? next : this.#read(text, at, at + 1, offset);
        at += 1;
        if (at - start === patience) this.#patience = this.#scans + pause;
      }
      if (pairs.age === age && offset === guessed) offset = offsets[part] as number;
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
    const pairs = this.#pairs;
    const { age } = pairs;
    const { starts, offsets, length } = this.#parts;
    const standing = pairs.at(offset);
    for (let part = 1; part < partCount; part += 1) {
      const from = (starts[part] as number) + length;
      let guessed = offsets[part] as number;
      for (let at = from; at < from + wordBytes && guessed >= 0; at += 1) {
        guessed = this.#filled(guessed, bytes[at] as number);
        if (pairs.age !== age) return pairs.live(standing).offset;
      }
    }
    return offset;
  }

  /** The cell of a byte, filled where a pair can tell it. */
  #filled(offset: number, byte: number): number {
    const pairs = this.#pairs;
    if (byte > lastAscii) return unknownPair;
    const next = pairs.table[offset + byte] as number;
    const pair = pairs.at(offset);
    if (next !== unknownPair || (pair.escaped !== undefined && byte === letterU)) return next;
    const { offset: filled, hasPatterns } = pairs.next(pair, byte);
    return hasPatterns ? unknownPair : filled;
  }

  /** Reads bytes one by one; they must begin and end between characters. */
  #read({ bytes }: TextBytes, start: number, end: number, from: number): number {
    const pairs = this.#pairs;
    let { table } = pairs;
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
        if (next < unknownPair) {
          offset = this.#told(-2 - next);
          at += 1;
          continue;
        }
        const pair = pairs.at(offset);
        if (pair.escaped === undefined || byte !== letterU) {
          offset = this.#told(pairs.next(pair, byte).offset);
          table = pairs.table;
          at += 1;
          continue;
        }
        offset = pair.escaped.offset;
        at -= 1;
      }
      readCharacter(bytes, at, this.#character);
      offset = this.#stepWide(offset, this.#character.codePoint);
      table = pairs.table;
      at += this.#character.length;
    }
  }

  /** Notes the patterns of a pair. */
  #told(offset: number): number {
    const pair = this.#pairs.at(offset);
    if (pair.hasPatterns && pair.notedIn !== this.#scans) {
      pair.notedIn = this.#scans;
      this.#note('exact', pair.exact.patterns);
      this.#note('folded', pair.folded.patterns);
    }
    return offset;
  }

  /** A character above ASCII, which may fold to none or several; what it led to is remembered for a while. */
  #stepWide(offset: number, codePoint: number): number {
    const pairs = this.#pairs;
    const { age } = pairs;
    const known = this.#wideSteps.recall(offset, codePoint, age);
    if (known >= 0) return known;
    const before = pairs.at(offset);
    const exact = this.exact.next(before.exact, codePoint);
    this.#isTold = exact.patterns.length > 0;
    this.#note('exact', exact.patterns);
    const folded = this.step('folded', before.folded, codePoint, this.#noteFolded);
    const next = pairs.pair(exact, folded).offset;
    // In a table begun anew on the way the offset is another pair's.
    if (!this.#isTold && pairs.age === age) this.#wideSteps.note({ offset, codePoint, age }, next);
    return next;
  }

  /** Patterns that end where the text does. */
  #end(): void {
    const pair = this.#pairs.at(this.#at);
    this.#after = pair;
    if (pair.isQuietAtEnd) return;
    const exact = this.exact.end(pair.exact);
    const folded = this.folded.end(pair.folded);
    pair.isQuietAtEnd = exact.length === 0 && folded.length === 0;
    this.#note('exact', exact);
    this.#note('folded', folded);
  }

  #note(view: View, patterns: readonly number[]): void {
    const seen = view === 'exact' ? this.#seenExact : this.#seenFolded;
    for (const pattern of patterns) {
      if (seen[pattern] === 1) continue;
      seen[pattern] = 1;
      this.found[view].push(pattern);
    }
  }

  #forget(): void {
    this.#scans += 1;
    const { exact, folded } = this.found;
    if (exact.length > 0) {
      for (const pattern of exact) this.#seenExact[pattern] = 0;
      exact.length = 0;
    }
    if (folded.length > 0) {
      for (const pattern of folded) this.#seenFolded[pattern] = 0;
      folded.length = 0;
    }
  }
}
