import { type ByteReader, lastAscii, letterU } from './byte-reader.ts';
import type { TextBytes } from './code-points.ts';
import { type StatePair, unknownCell } from './product-dfa.ts';
import { createParts, partCount, readParts, shortestBlock, wordBytes } from './speculative-scan.ts';

/** Bytes that the parts must have read together for the parallel read to go on. */
const leastProgress = 32;
/** Bytes after which a part should have met the real states; where one has not, texts are read in one go for some scans. */
const meetBytes = 128;
const pauseScans = 256;

/** Reads whole texts, long ones in four parts in parallel. */
export class TextScan {
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
      end - at >= shortestBlock &&
      product.epoch === epoch &&
      !product.isFull &&
      this.#partsFrom <= this.#scans
    ) {
      const range = { start: at, end, offset, guess };
      if (!readParts(product.table, text, range, this.#parts)) break;
      offset = this.#joinParts(text, guess);
      at = (this.#parts.starts[partCount - 1] as number) + this.#parts.length;
      if (this.#parts.isStopped && product.epoch === epoch) offset = this.#fillGuesses(text, offset);
      if (this.#parts.length < leastProgress) break;
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
