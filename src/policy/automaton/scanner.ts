import { longRunLength } from '../detectors/detector.ts';
import {
  ByteReader,
  type FoundPatterns,
  type Limits,
  lastAscii,
  letterU,
  type ReaderParts,
  type TextView,
} from './byte-reader.ts';
import type { LazyDfa, State, Threads } from './lazy-dfa.ts';
import { PieceReader } from './piece-reader.ts';
import { type StatePair, unknownCell } from './product-dfa.ts';
import type { Simulation } from './simulation.ts';
import { hasKeyRun, hasRun, type TextBytes } from './text-bytes.ts';

/** A run of this many key characters is encoded data, in which prefilters would need a state for nearly every byte. */
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
    const { longRuns } = this.#parts;
    const hasLongRun = longRuns.length > 0 && hasRun(text, longRunLength);
    // Of most texts all is known by then.
    const isOrdinary = longRuns.length > 0 && !hasLongRun;
    const isData = !isOrdinary && this.folded.prefiltered.length > 0 && hasRun(text, dataRunLength);
    const after = isData ? undefined : this.#scan.read(text);
    this.#found = this.#scan.reader.found;
    this.#after = after ?? this.#withoutPrefilters(text);
    this.#scan.reader.product.addRoom(bytes);
    if (hasLongRun && hasKeyRun(text)) this.#found.note('folded', longRuns);
    return !this.#found.isEmpty;
  }

  /** Where the automata stand after the last text, for texts that follow. */
  after(): StatePair {
    return this.#after;
  }

  /** The states after one character; the patterns found on the way are in the states. */
  step(view: TextView, state: State, codePoint: number, onState: (state: State) => void): State {
    return this.#scan.reader.step(view, state, codePoint, onState);
  }

  /** One of some simulations of a view's automaton, until it is asked for again. */
  simulation(view: TextView, number: number): Simulation {
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
    // States of other automata, whose nodes have the same numbers.
    return { exact: threadsOf(after.exact), folded: threadsOf(after.folded) };
  }
}

function threadsOf({ threads, context }: Threads): Threads {
  return { threads, context };
}

/** Bytes that the parts must have read together for the parallel read to go on. */
const minProgress = 32;
/** Bytes after which a part should have met the real states; where one has not, texts are read in one go for some scans. */
const meetBytes = 128;
const pauseScans = 256;

/** Reads whole texts, long ones in four parts in parallel. */
class TextScan {
  readonly reader: ByteReader;
  #scans = 0;
  /** The scan number from which texts are read in parts again. */
  #partsFrom = 0;
  readonly #parts = createParts();

  constructor(reader: ByteReader) {
    this.reader = reader;
  }

  /**
   * Reads it from its beginning to its end, and notes its patterns. Returns where the automata stand then; undefined if
   * there was no room to find all that prefilters seek.
   */
  read(text: TextBytes): StatePair | undefined {
    this.#scans += 1;
    this.reader.begin();
    const { start, end } = text;
    const { product } = this.reader;
    const guess = product.spaced();
    const { epoch } = product;
    let offset = product.start();
    let at = start;
    // All offsets become invalid when the table is started over, which its epoch shows.
    while (
      end - at >= minBlock &&
      product.epoch === epoch &&
      !product.isFull &&
      this.#partsFrom <= this.#scans
    ) {
      const range = { start: at, end, offset, guess };
      if (!readParts(product.table, text, range, this.#parts)) break;
      offset = this.#joinParts(text, guess);
      at = (this.#parts.starts[partCount - 1] as number) + this.#parts.length;
      if (this.#parts.isStopped && product.epoch === epoch) offset = this.#fillGuesses(text, offset);
      if (this.#parts.length < minProgress) break;
    }
    return this.reader.readRest(text.bytes, at, end, offset);
  }

  /** Goes through what was read in parts, and reads what lies between them; returns where that leads. */
  #joinParts(text: TextBytes, guess: number): number {
    const { product } = this.reader;
    const { starts, offsets, length } = this.#parts;
    const { epoch } = product;
    const { bytes } = text;
    let offset = offsets[0] as number;
    let at = (starts[0] as number) + length;
    for (let part = 1; part < partCount; part += 1) {
      const start = starts[part] as number;
      const end = start + length;
      offset = this.reader.read(bytes, at, start, offset);
      at = start;
      let guessed = guess;
      // Once both are in the same state at the same position, they continue identically.
      while (at < end && offset !== guessed) {
        const byte = bytes[at] as number;
        guessed = product.table[guessed + byte] as number;
        const next = product.table[offset + byte] as number;
        offset = next >= 0 ? next : this.reader.read(bytes, at, at + 1, offset);
        at += 1;
        if (at - start === meetBytes) this.#partsFrom = this.#scans + pauseScans;
      }
      if (product.epoch === epoch && offset === guessed) offset = offsets[part] as number;
      else offset = this.reader.read(bytes, at, end, offset);
      at = end;
    }
    return offset;
  }

  /**
   * Fills the cells at which guessed parts have stopped: what is really read may never come by them, and every such
   * part would stop there again. Returns where the automata stand then.
   */
  #fillGuesses({ bytes }: TextBytes, offset: number): number {
    const { product } = this.reader;
    const { epoch } = product;
    const { starts, offsets, length } = this.#parts;
    const standing = product.at(offset);
    for (let part = 1; part < partCount; part += 1) {
      const from = (starts[part] as number) + length;
      let guessed = offsets[part] as number;
      for (let at = from; at < from + wordBytes && guessed >= 0; at += 1) {
        guessed = this.#filled(guessed, bytes[at] as number);
        if (product.epoch !== epoch) return product.live(standing).offset;
      }
    }
    return offset;
  }

  /** The cell of a byte, computed if the pair determines it. */
  #filled(offset: number, byte: number): number {
    const { product } = this.reader;
    if (byte > lastAscii) return unknownCell;
    const next = product.table[offset + byte] as number;
    const pair = product.at(offset);
    if (next !== unknownCell || (pair.escaped !== undefined && byte === letterU)) return next;
    const { offset: filled, hasPatterns } = product.next(pair, byte);
    return hasPatterns ? unknownCell : filled;
  }
}

/** Bytes of a text that are read together, in four parts; the rest is read one by one. */
const maxBlock = 4096;
const minBlock = 384;
const partCount = 4;
/** Bytes that are read of each part at a time. */
const wordBytes = 4;
/** How far a part may begin after its place, for a space to begin after. */
const spaceReach = 64;
const space = 0x20;
const highBits = 0x80808080 | 0;
const asciiMask = 0x7f;

/** Where parts of a text begin, and where the automata stand after what was read of each. */
interface Parts {
  readonly starts: Int32Array;
  readonly offsets: Int32Array;
  /** Bytes that were read of each part. */
  length: number;
  /** Whether that is less than could be, because a plain look-up had no answer. */
  isStopped: boolean;
}

function createParts(): Parts {
  return {
    starts: new Int32Array(partCount),
    offsets: new Int32Array(partCount),
    length: 0,
    isStopped: false,
  };
}

interface Range {
  readonly start: number;
  readonly end: number;
  /** Where the automata stand at its start. */
  readonly offset: number;
  /** Where they may stand after a space. */
  readonly guess: number;
}

/**
 * Reads the beginning of a text in four parts in parallel: a lookup waits for the one before it, but not for those of other
 * parts, so four take hardly longer than one. The first part begins in the automata's current state; the others begin
 * after a space in a guessed state, which must be verified afterwards. Stops before the first word of any part that plain
 * lookups can't handle. False if the text has too few spaces.
 */
function readParts(
  table: Int32Array,
  { bytes, words }: { readonly bytes: Uint8Array; readonly words: DataView },
  { start, end, offset, guess }: Range,
  into: Parts,
): boolean {
  const size = Math.floor(Math.min(end - start, maxBlock) / partCount);
  const second = afterSpace(bytes, start + size);
  const third = afterSpace(bytes, start + size * 2);
  const fourth = afterSpace(bytes, start + size * 3);
  if (second < 0 || third < 0 || fourth < 0) return false;
  const length = Math.min(second - start, third - second, fourth - third, start + size * partCount - fourth);
  // One position and the distances of the others need fewer registers than a position for each.
  const toSecond = second - start;
  const toThird = third - start;
  const toFourth = fourth - start;
  const lastWord = start + length - wordBytes;
  let one = offset;
  let two = guess;
  let three = guess;
  let four = guess;
  let at = start;
  for (; at <= lastWord; at += wordBytes) {
    const word1 = words.getInt32(at, true);
    const word2 = words.getInt32(at + toSecond, true);
    const word3 = words.getInt32(at + toThird, true);
    const word4 = words.getInt32(at + toFourth, true);
    if (((word1 | word2 | word3 | word4) & highBits) !== 0) break;
    let next1 = table[one + (word1 & asciiMask)] as number;
    let next2 = table[two + (word2 & asciiMask)] as number;
    let next3 = table[three + (word3 & asciiMask)] as number;
    let next4 = table[four + (word4 & asciiMask)] as number;
    if ((next1 | next2 | next3 | next4) < 0) break;
    next1 = table[next1 + ((word1 >> 8) & asciiMask)] as number;
    next2 = table[next2 + ((word2 >> 8) & asciiMask)] as number;
    next3 = table[next3 + ((word3 >> 8) & asciiMask)] as number;
    next4 = table[next4 + ((word4 >> 8) & asciiMask)] as number;
    if ((next1 | next2 | next3 | next4) < 0) break;
    next1 = table[next1 + ((word1 >> 16) & asciiMask)] as number;
    next2 = table[next2 + ((word2 >> 16) & asciiMask)] as number;
    next3 = table[next3 + ((word3 >> 16) & asciiMask)] as number;
    next4 = table[next4 + ((word4 >> 16) & asciiMask)] as number;
    if ((next1 | next2 | next3 | next4) < 0) break;
    next1 = table[next1 + (word1 >> 24)] as number;
    next2 = table[next2 + (word2 >> 24)] as number;
    next3 = table[next3 + (word3 >> 24)] as number;
    next4 = table[next4 + (word4 >> 24)] as number;
    if ((next1 | next2 | next3 | next4) < 0) break;
    one = next1;
    two = next2;
    three = next3;
    four = next4;
  }
  const { starts, offsets } = into;
  starts[0] = start;
  starts[1] = second;
  starts[2] = third;
  starts[3] = fourth;
  offsets[0] = one;
  offsets[1] = two;
  offsets[2] = three;
  offsets[3] = four;
  into.length = at - start;
  into.isStopped = at <= lastWord;
  return true;
}

/** The next place after a space, which is no part of an escape or of a longer character; -1 if none is near. */
function afterSpace(bytes: Uint8Array, from: number): number {
  for (let at = from; at < from + spaceReach; at += 1) if (bytes[at] === space) return at + 1;
  return -1;
}
