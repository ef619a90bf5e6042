import { type ByteReader, lastAscii } from './byte-reader.ts';
import type { ProductState } from './product-dfa.ts';

const backslash = 0x5c;

/** Patterns that end in a piece, and the part of it that holds the match: between two places where none is in progress. */
export interface Hit {
  readonly patterns: Set<number>;
  /** -1 if the match may have begun in an earlier piece. */
  readonly start: number;
  /** -1 if a match is still in progress when the piece ends. */
  end: number;
}

/** What one piece of a text did. */
export interface ReadPiece {
  readonly after: ProductState;
  /** The last place at which no match was in progress; -1 if there was none. */
  readonly settled: number;
  readonly hits: readonly Hit[];
}

/**
 * Reads texts that come in pieces, each character once. The last piece is remembered: a text is read in several
 * channels, and as long as they are in the same state, only the first of them costs anything.
 */
export class PieceReader {
  readonly #reader: ByteReader;
  #piece = '';
  #from: ProductState | undefined;
  #read: ReadPiece | undefined;

  constructor(reader: ByteReader) {
    this.#reader = reader;
  }

  /** The state before a text. */
  get start(): ProductState {
    const { product } = this.#reader;
    return product.at(product.start());
  }

  read(piece: string, state: ProductState): ReadPiece {
    const from = this.#reader.product.live(state);
    if (this.#read !== undefined && this.#from === from && this.#piece === piece) return this.#read;
    this.#read = this.#readOn(piece, from.offset);
    this.#piece = piece;
    this.#from = from;
    return this.#read;
  }

  /** The patterns that end where the text does. */
  end(state: ProductState): readonly number[] {
    const { exact, folded } = this.#reader;
    return [...exact.end(state.exact), ...folded.end(state.folded)];
  }

  #readOn(piece: string, from: number): ReadPiece {
    const reader = this.#reader;
    const { product } = reader;
    let { table } = product;
    let offset = from;
    let settled = -1;
    const hits: Hit[] = [];
    let open: Hit | undefined;
    reader.begin();
    for (let at = 0; at < piece.length; ) {
      const code = piece.charCodeAt(at);
      const next = code <= lastAscii && code !== backslash ? (table[offset + code] as number) : -1;
      if (next >= 0) {
        offset = next;
        at += 1;
      } else {
        const codePoint = piece.codePointAt(at) as number;
        offset = reader.advance(offset, codePoint);
        at += codePoint > 0xffff ? 2 : 1;
        table = product.table;
        if (!reader.found.isEmpty) {
          if (open === undefined) {
            open = { patterns: new Set(), start: settled, end: -1 };
            hits.push(open);
          }
          for (const pattern of reader.found.exact) open.patterns.add(pattern);
          for (const pattern of reader.found.folded) open.patterns.add(pattern);
          reader.begin();
        }
      }
      if (product.at(offset).isOpen) continue;
      settled = at;
      if (open === undefined) continue;
      open.end = at;
      open = undefined;
    }
    return { after: product.at(offset), settled, hits };
  }
}
