import type { JsonDocument } from '../../json/json-document.ts';
import type { Piece, Place } from '../traverse/place.ts';
import type { UnseenKind } from '../traverse/unseen.ts';
import type { Context } from '../traverse/walk-context.ts';
import type { Visitor } from '../traverse/walk-visitor.ts';
import { Joints, type SavedChains } from './cross-segment.ts';
import type { Machine } from './machine.ts';
import type { Hit, TextReader } from './reader.ts';
import type { View } from './scanner.ts';

/** A needle in a text; `before` is set where it begins in an earlier text of the same chain. */
export interface Occurrence {
  readonly needle: number;
  readonly view: View;
  readonly piece: Piece;
  readonly before?: Piece;
}

/** Content that can't be looked into. */
export interface Unseen {
  readonly kind: UnseenKind;
  readonly place: Place;
}

/** Numbers in place of text. */
export interface Unreadable {
  readonly place: Place;
  readonly roles: number;
}

/** Everything that one walk over a document found. */
export interface Findings {
  /** By number of the needle. */
  readonly occurrences: ReadonlyMap<number, readonly Occurrence[]>;
  readonly unseen: readonly Unseen[];
  readonly unreadable: readonly Unreadable[];
}

/** Most places that are kept of one needle; redaction asks for them all, so it refuses beyond that. */
export const occurrenceLimit = 10_000;

/** Entries that lie at least between two checkpoints, but for the last ones. */
const checkpointEntries = 64;

/** How far a walk had come before a turn: so much had been found, and so much was open. */
export interface Checkpoint {
  /** The turn's entry, or the first one behind the last turn. */
  readonly turn: number;
  readonly found: number;
  readonly unseen: number;
  readonly chains: SavedChains;
}

/** What is known of a document's beginning, in that document's own places. */
export interface KnownPart {
  readonly found: readonly Occurrence[];
  readonly unseen: readonly Unseen[];
  readonly checkpoints: readonly Checkpoint[];
  readonly placeOf: (entry: number) => Place;
}

/** Gathers what a walk finds, in the order of the walk. */
export class Gatherer implements Visitor {
  readonly found: Occurrence[] = [];
  readonly unseenPlaces: Unseen[] = [];
  readonly unreadablePlaces: Unreadable[] = [];
  readonly checkpoints: Checkpoint[] = [];
  readonly #machine: Machine;
  readonly #reader: TextReader;
  #joints: Joints;
  #counts: Map<number, number> | undefined;
  readonly #takesCheckpoints: boolean;
  readonly #across = ({ needle, view }: Hit, piece: Piece, before: Piece) =>
    this.#note({ needle, view, piece, before });

  constructor(machine: Machine, reader: TextReader, takesCheckpoints: boolean) {
    this.#machine = machine;
    this.#reader = reader;
    this.#joints = new Joints(machine, reader);
    this.#takesCheckpoints = takesCheckpoints;
  }

  text(document: JsonDocument, entry: number, context: Context): void {
    if (context.chain === undefined) {
      const hits = this.#reader.hits(document, entry);
      if (hits.length > 0) this.#noteAll(hits, pieceOf(document, entry, context));
      return;
    }
    if (document.end(entry) === document.start(entry)) return;
    const piece = pieceOf(document, entry, context);
    const verdict = this.#reader.read(document, entry);
    this.#noteAll(verdict.hits, piece);
    this.#joints.add(piece, verdict, this.#across);
  }

  unseen(kind: UnseenKind, place: Place): void {
    this.unseenPlaces.push({ kind, place });
  }

  unreadable(place: Place, roles: number): void {
    this.unreadablePlaces.push({ place, roles });
  }

  turn(entry: number, left: number): void {
    if (!this.#takesCheckpoints || !this.#isWorthCheckpoint(entry, left)) return;
    // What can't be read is told in an order of its own, and is no conversation anyway.
    if (this.unreadablePlaces.length > 0) return;
    const chains = this.#joints.save();
    if (chains === undefined) return;
    const found = this.found.length;
    this.checkpoints.push({ turn: entry, found, unseen: this.unseenPlaces.length, chains });
  }

  part(): void {
    this.#joints.finish(this.#across);
    this.#joints = new Joints(this.#machine, this.#reader);
  }

  /** Begins with what is known, to go on at a checkpoint of another document. */
  begin(at: Checkpoint, known: KnownPart): void {
    for (const occurrence of known.found) this.#note(occurrence);
    this.unseenPlaces.push(...known.unseen);
    this.checkpoints.push(...known.checkpoints);
    this.#joints.restore(at.chains, known.placeOf);
  }

  #note(occurrence: Occurrence): void {
    this.#counts ??= new Map();
    const count = this.#counts.get(occurrence.needle) ?? 0;
    if (count === occurrenceLimit) return;
    this.#counts.set(occurrence.needle, count + 1);
    this.found.push(occurrence);
  }

  finish(): Findings {
    this.#joints.finish(this.#across);
    const occurrences = this.found.length === 0 ? nothing : byNeedle(this.found);
    return { occurrences, unseen: this.unseenPlaces, unreadable: this.unreadablePlaces };
  }

  /** The next request mostly parts from this one at its end; far from there, few places do. */
  #isWorthCheckpoint(entry: number, left: number): boolean {
    const since = entry - (this.checkpoints.at(-1)?.turn ?? 0);
    if (left <= 1) return since > 0;
    return since >= checkpointEntries && (left & (left - 1)) === 0;
  }

  #noteAll(hits: readonly Hit[], piece: Piece): void {
    for (const { needle, view } of hits) this.#note({ needle, view, piece });
  }
}

const nothing: Findings['occurrences'] = new Map();

function byNeedle(found: readonly Occurrence[]): Findings['occurrences'] {
  const occurrences = new Map<number, Occurrence[]>();
  for (const occurrence of found) {
    const same = occurrences.get(occurrence.needle);
    if (same === undefined) occurrences.set(occurrence.needle, [occurrence]);
    else same.push(occurrence);
  }
  return occurrences;
}

function pieceOf(document: JsonDocument, entry: number, context: Context): Piece {
  return { place: context.place(document, entry), roles: context.roles, chain: context.chain };
}
