import { type ByteReader, lastAscii, type TextView } from './byte-reader.ts';
import { isState, type Threads } from './lazy-dfa.ts';
import { type StatePair, unknownCell } from './product-dfa.ts';
import type { Simulation } from './simulation.ts';

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
interface ReadPiece {
  readonly after: StatePair;
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
  #from: StatePair | undefined;
  #read: ReadPiece | undefined;

  constructor(reader: ByteReader) {
    this.#reader = reader;
  }

  /** The state before a text. */
  get start(): StatePair {
    const { product } = this.#reader;
    return product.at(product.start());
  }

  read(piece: string, from: StatePair): ReadPiece {
    if (this.#read !== undefined && this.#from === from && this.#piece === piece) return this.#read;
    this.#read = this.#readOn(piece, from);
    this.#reader.product.addRoom(piece.length);
    this.#piece = piece;
    this.#from = from;
    return this.#read;
  }

  /** The patterns that end where the text does. */
  end(state: StatePair): readonly number[] {
    return [...this.#end('exact', state.exact), ...this.#end('folded', state.folded)];
  }

  #end(view: TextView, state: Threads): readonly number[] {
    if (isState(state)) return this.#reader[view].end(state);
    const patterns: number[] = [];
    const simulation = this.#reader.simulation(view);
    simulation.begin(state, (ended) => patterns.push(...ended));
    simulation.end();
    return patterns;
  }

  #readOn(piece: string, from: StatePair): ReadPiece {
    const reader = this.#reader;
    const { product } = reader;
    let simulations: Readonly<Record<TextView, Simulation>> | undefined;
    if (product.isFull) simulations = reader.beginSimulation(from);
    let offset = simulations === undefined ? product.from(from).offset : 0;
    let { table } = product;
    let settled = -1;
    const hits: Hit[] = [];
    let open: Hit | undefined;
    reader.begin();
    for (let at = 0; at < piece.length; ) {
      const code = piece.charCodeAt(at);
      const next = code <= lastAscii && code !== backslash ? (table[offset + code] as number) : unknownCell;
      if (simulations === undefined && next >= 0) {
        offset = next;
        at += 1;
      } else {
        const codePoint = piece.codePointAt(at) as number;
        at += codePoint > 0xffff ? 2 : 1;
        if (simulations === undefined && next === unknownCell && product.isFull) {
          simulations = reader.beginSimulation(product.at(offset));
        }
        if (simulations === undefined) {
          offset = reader.advance(offset, codePoint);
          table = product.table;
        } else {
          simulations.exact.advancePoint(codePoint);
          simulations.folded.advancePoint(codePoint);
        }
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
      if (simulations === undefined ? product.at(offset).isOpen : isOpen(simulations)) continue;
      settled = at;
      if (open === undefined) continue;
      open.end = at;
      open = undefined;
    }
    const after =
      simulations === undefined
        ? product.at(offset)
        : { exact: simulations.exact.state, folded: simulations.folded.state };
    return { after, settled, hits };
  }
}

function isOpen({ exact, folded }: Readonly<Record<TextView, Simulation>>): boolean {
  return exact.isOpen || folded.isOpen;
}
