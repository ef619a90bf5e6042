import type { Dialect } from '../dialects/dialect.ts';
import type { JsonDocument } from '../dialects/json-document.ts';
import type { Piece, Place } from './place.ts';
import { Joints } from './text/joints.ts';
import type { Machine } from './text/machine.ts';
import { type Hit, TextReader } from './text/reader.ts';
import type { View } from './text/scanner.ts';
import type { VerdictCache } from './text/verdict-cache.ts';
import type { UnseenKind } from './unseen.ts';
import { createWalk, type Visitor, type Walk } from './walk.ts';
import type { Context } from './walk-context.ts';

/** A needle in a text; `before` is set where it begins in an earlier text of the same chain. */
export interface Occurrence {
  readonly needle: number;
  readonly view: View;
  readonly piece: Piece;
  readonly before?: Piece;
}

/** Everything that one walk over a document found. */
export interface Findings {
  /** By number of the needle. */
  readonly occurrences: ReadonlyMap<number, readonly Occurrence[]>;
  readonly unseen: readonly { readonly kind: UnseenKind; readonly place: Place }[];
  readonly unreadable: readonly { readonly place: Place; readonly roles: number }[];
}

/** Most places that are kept of one needle; redaction asks for them all, so it refuses beyond that. */
export const occurrenceLimit = 10_000;

/** Looks for all needles of a machine in whole documents. */
export class Search {
  readonly machine: Machine;
  readonly #reader: TextReader;
  readonly #walk: Walk;

  constructor(machine: Machine, cache: VerdictCache) {
    this.machine = machine;
    this.#reader = new TextReader(machine, cache);
    this.#walk = createWalk();
  }

  request(document: JsonDocument, dialect: Dialect): Findings {
    return this.#run((visitor) => this.#walk.request(document, dialect, visitor));
  }

  /** A document without roles: an answer, or anything else. */
  document(document: JsonDocument, roles: number): Findings {
    return this.#run((visitor) => this.#walk.document(document, roles, visitor));
  }

  #run(walk: (visitor: Visitor) => void): Findings {
    const occurrences = new Map<number, Occurrence[]>();
    const unseen: { kind: UnseenKind; place: Place }[] = [];
    const unreadable: { place: Place; roles: number }[] = [];
    const joints = new Joints(this.machine, this.#reader);
    const note = (occurrence: Occurrence) => {
      const same = occurrences.get(occurrence.needle);
      if (same === undefined) occurrences.set(occurrence.needle, [occurrence]);
      else if (same.length < occurrenceLimit) same.push(occurrence);
    };
    const noteAll = (hits: readonly Hit[], piece: Piece) => {
      for (const { needle, view } of hits) note({ needle, view, piece });
    };
    const across = ({ needle, view }: Hit, piece: Piece, before: Piece) =>
      note({ needle, view, piece, before });
    walk({
      text: (document, entry, context) => {
        if (context.chain === undefined) {
          const hits = this.#reader.hits(document, entry);
          if (hits.length > 0) noteAll(hits, pieceOf(document, entry, context));
          return;
        }
        if (document.end(entry) === document.start(entry)) return;
        const piece = pieceOf(document, entry, context);
        const verdict = this.#reader.read(document, entry);
        noteAll(verdict.hits, piece);
        joints.add(piece, verdict, across);
      },
      unseen: (kind, place) => unseen.push({ kind, place }),
      unreadable: (place, roles) => unreadable.push({ place, roles }),
    });
    joints.finish(across);
    return { occurrences, unseen, unreadable };
  }
}

function pieceOf(document: JsonDocument, entry: number, context: Context): Piece {
  return { place: context.place(document, entry), roles: context.roles, chain: context.chain };
}
