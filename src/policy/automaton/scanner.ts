import { longRunLength } from '../detectors/detector.ts';
import { ByteReader, type Limits, type ReaderParts } from './byte-reader.ts';
import type { TextBytes } from './code-points.ts';
import type { State, Threads } from './dfa-state.ts';
import type { FoundPatterns, View } from './found-patterns.ts';
import type { LazyDfa } from './lazy-dfa.ts';
import { hasKeyRun, hasRun } from './long-run.ts';
import { PieceReader } from './piece-reader.ts';
import type { StatePair } from './product-dfa.ts';
import type { Simulation } from './simulation.ts';
import { TextScan } from './text-scan.ts';

/** A run of so many characters of keys is encoded data, in which prefilters would need a state for nearly every byte. */
const dataRunLength = 256;

interface ScannerParts extends ReaderParts {
  /** Patterns that are in every text with a long run. */
  readonly longRuns: readonly number[];
}

/** Runs both views' automata over the bytes of texts. */
export class Scanner {
  readonly #parts: ScannerParts;
  readonly #limits: Limits;
  readonly #scan: TextScan;
  /** The same without prefilters. */
  #ownScan: TextScan | undefined;
  #found: FoundPatterns;
  #after: StatePair;

  constructor(parts: ScannerParts, limits: Limits = {}) {
    this.#parts = parts;
    this.#limits = limits;
    this.#scan = new TextScan(new ByteReader(parts, limits));
    this.#found = this.#scan.reader.found;
    this.#after = this.start;
  }

  get exact(): LazyDfa {
    return this.#scan.reader.exact;
  }

  get folded(): LazyDfa {
    return this.#scan.reader.folded;
  }

  /** The patterns of the last text; valid until the next scan. */
  get found(): FoundPatterns {
    return this.#found;
  }

  get start(): StatePair {
    return { exact: this.exact.start, folded: this.folded.start };
  }

  /**
   * Reads a whole text from its beginning to its end. Returns whether any pattern is in it; which ones is in
   * `found`, and where the automata stand then in `after`, until the next scan. What prefilters seek is taken to be in a
   * text that is encoded data, or that there is no room for.
   */
  scan(text: TextBytes): boolean {
    const bytes = text.end - text.start;
    // Most texts of most bodies: keys, labels and numbers.
    const quiet = bytes < longRunLength ? this.#scan.reader.readQuiet(text) : undefined;
    if (quiet !== undefined) {
      this.#found = this.#scan.reader.found;
      this.#after = quiet;
      this.#scan.reader.product.addRoom(bytes);
      return false;
    }
    const isData = this.folded.prefiltered.length > 0 && hasRun(text, dataRunLength);
    const after = isData ? undefined : this.#scan.read(text);
    this.#found = this.#scan.reader.found;
    this.#after = after ?? this.#withoutPrefilters(text);
    this.#scan.reader.product.addRoom(bytes);
    if (this.#parts.longRuns.length > 0 && hasKeyRun(text)) this.#found.note('folded', this.#parts.longRuns);
    return !this.#found.isEmpty;
  }

  /** Where the automata stand after the last text, for texts that follow. */
  after(): StatePair {
    return this.#after;
  }

  /** The states after one character; the patterns found on the way are in the states. */
  step(view: View, state: State, codePoint: number, onState: (state: State) => void): State {
    return this.#scan.reader.step(view, state, codePoint, onState);
  }

  /** One of some simulations of a view's automaton, until it is asked for again. */
  simulation(view: View, number: number): Simulation {
    return this.#scan.reader.simulation(view, number);
  }

  /** A reader of texts that come in pieces. */
  pieceReader(): PieceReader {
    return new PieceReader(this.#scan.reader);
  }

  #withoutPrefilters(text: TextBytes): StatePair {
    const { exact, folded, fold } = this.#parts;
    this.#ownScan ??= new TextScan(
      new ByteReader({ exact, folded: folded.withoutPrefilters(), fold }, this.#limits),
    );
    const after = this.#ownScan.read(text) as StatePair;
    this.#ownScan.reader.product.addRoom(text.end - text.start);
    this.#found = this.#ownScan.reader.found;
    this.#found.note('folded', this.folded.prefiltered);
    // States of other automata, of which the nodes have the same numbers.
    return { exact: threadsOf(after.exact), folded: threadsOf(after.folded) };
  }
}

function threadsOf({ threads, context }: Threads): Threads {
  return { threads, context };
}
