import { type Dialect, fieldOf } from '../../dialects/dialect.ts';
import type { JsonDocument } from '../../json/json-document.ts';
import { findNumber } from '../traverse/numbers.ts';
import type { Place, Segment } from '../traverse/place.ts';
import type { Checkpoint, Gatherer } from './gatherer.ts';
import type { SearchResult, TextMatch } from './search-result.ts';

/** What a walk over a kept document found, and where walks over others may go on from it. */
interface KnownWalk {
  readonly owner: KnownWalks;
  readonly dialect: Dialect;
  readonly searchResult: SearchResult;
  readonly found: readonly TextMatch[];
  readonly checkpoints: readonly Checkpoint[];
}

type FinishedWalk = Pick<KnownWalk, 'searchResult' | 'found' | 'checkpoints'>;

/** Most matches of a walk that is kept. */
const placeLimit = 1_000;
/** Most bytes of nested documents that a kept walk may reference. */
const nestedLimitBytes = 16_384;
const checkpointLimit = 24;
/** Open texts that the checkpoints of a walk may hold on to; a sequence weighs as much as some texts. */
const openLimit = 8_192;
const sequenceWeight = 8;
/** Policy sets whose walks over one document are kept; nearly always a document is read by one. */
const setLimit = 4;

/** Known walks of all policy sets together. Few documents are kept, and few walks over each. */
export type WalkCache = WeakMap<JsonDocument, readonly KnownWalk[]>;

/**
 * One policy set's known walks over documents that are kept, as long as those are. A document that begins like one
 * of them is walked only from the turn in which they part: what the model reads before that is the same, so what was
 * found in it is too, and what was open at its end.
 */
export class KnownWalks {
  readonly #cache: WalkCache;

  constructor(cache: WalkCache) {
    this.#cache = cache;
  }

  /** The result for this very document. */
  recall(document: JsonDocument, dialect: Dialect): SearchResult | undefined {
    return document.isKept ? this.#find(document, dialect)?.searchResult : undefined;
  }

  #find(document: JsonDocument, dialect: Dialect): KnownWalk | undefined {
    return this.#cache.get(document)?.find((walk) => walk.owner === this && walk.dialect === dialect);
  }

  /** Has a walk begin with what is known; returns the turn from which on nothing is, if there is one. */
  resume(document: JsonDocument, dialect: Dialect, gatherer: Gatherer): number | undefined {
    const { begunLike } = document;
    const before = begunLike?.document.deref();
    if (begunLike === undefined || before === undefined) return undefined;
    const known = this.#find(before, dialect);
    if (known === undefined) return undefined;
    const checkpoints = known.checkpoints.filter(({ turn }) => isBefore(turn, document, dialect));
    const last = checkpoints[checkpoints.length - 1];
    if (last === undefined || holdsNumbers(document, dialect)) return undefined;
    const shift = systemShift(before, document, { dialect, turn: last.turn });
    if (shift === undefined) return undefined;
    // Only the system's texts can stand behind the turn and have been read before it.
    const entryOf = (entry: number) => (entry < last.turn ? entry : entry + shift);
    const placeOf = (place: Place): Place =>
      place.outer === undefined
        ? { document, entry: entryOf(place.entry) }
        : { ...place, outer: placeOf(place.outer) };
    gatherer.begin(last, {
      found: known.found.slice(0, last.found).map((match) => moved(match, placeOf)),
      unseen: known.searchResult.unseen
        .slice(0, last.unseen)
        .map(({ kind, place }) => ({ kind, place: placeOf(place) })),
      checkpoints: shift === 0 ? checkpoints : checkpoints.map((each) => movedCheckpoint(each, entryOf)),
      placeOf: (entry) => ({ document, entry: entryOf(entry) }),
    });
    return last.turn;
  }

  keep(document: JsonDocument, dialect: Dialect, walk: FinishedWalk): void {
    if (!document.isKept || walk.checkpoints.length === 0 || !isSmall(walk)) return;
    const { searchResult, found } = walk;
    const checkpoints = lighter(fewer(walk.checkpoints));
    const others = (this.#cache.get(document) ?? []).filter(({ owner }) => owner !== this);
    const kept = { owner: this, dialect, searchResult, found, checkpoints };
    this.#cache.set(document, [...others.slice(1 - setLimit), kept]);
  }
}

/**
 * Whether all that stands before a turn is in the known beginning. Where the turn would be the next entry, what
 * comes next must not be inside the turn before: an empty list there ends with the same entry as the turn.
 */
function isBefore(turn: number, document: JsonDocument, dialect: Dialect): boolean {
  const { entries = 0, innermost } = document.begunLike ?? {};
  if (turn !== entries) return turn < entries;
  return innermost === document.root || innermost === fieldOf(document, dialect, 'turns');
}

function isSmall({ found, searchResult: { unseen } }: FinishedWalk): boolean {
  const places = found.length + unseen.length;
  if (places === 0 || places > placeLimit) return places === 0;
  const nested = new Set<JsonDocument>();
  for (const { place } of [...found.map(({ segment }) => segment), ...unseen]) {
    for (let at = place; at.outer !== undefined; at = at.outer) nested.add(at.document);
  }
  let bytes = 0;
  for (const document of nested) bytes += document.bytes.length;
  return bytes <= nestedLimitBytes;
}

/** Thins out older checkpoints. */
function fewer(checkpoints: readonly Checkpoint[]): readonly Checkpoint[] {
  if (checkpoints.length <= checkpointLimit) return checkpoints;
  const recent = checkpoints.length - checkpointLimit / 2;
  return checkpoints.filter((_, at) => at % 2 === 0 || at >= recent);
}

/** As many of the last ones as may be held on to: a body of small texts can leave thousands open before each turn. */
function lighter(checkpoints: readonly Checkpoint[]): readonly Checkpoint[] {
  let open = 0;
  let first = checkpoints.length;
  while (first > 0) {
    const { sequences } = checkpoints[first - 1] as Checkpoint;
    for (const { window } of sequences.values()) open += sequenceWeight + window.segments.length;
    if (open > openLimit) break;
    first -= 1;
  }
  return checkpoints.slice(first);
}

/** Numbers in place of turns are reported before all turns, so they must not be found on the way. */
function holdsNumbers(document: JsonDocument, dialect: Dialect): boolean {
  const turns = fieldOf(document, dialect, 'turns');
  return turns !== undefined && findNumber(document, turns) !== undefined;
}

/**
 * The system's texts are read before all turns, wherever they stand. By how many entries they have moved,
 * where they are the same; undefined if they are not.
 */
function systemShift(
  before: JsonDocument,
  document: JsonDocument,
  { dialect, turn }: { readonly dialect: Dialect; readonly turn: number },
): number | undefined {
  const one = fieldOf(before, dialect, 'system');
  const other = fieldOf(document, dialect, 'system');
  if (one === undefined || other === undefined || one < turn || other < turn) {
    return one === other ? 0 : undefined;
  }
  const isSame =
    before.bytes.compare(
      document.bytes,
      document.start(other - 1),
      document.end(other),
      before.start(one - 1),
      before.end(one),
    ) === 0;
  return isSame ? other - one : undefined;
}

function moved({ segment, before, ...rest }: TextMatch, placeOf: (place: Place) => Place): TextMatch {
  const move = (each: Segment): Segment => ({ ...each, place: placeOf(each.place) });
  return { ...rest, segment: move(segment), ...(before === undefined ? {} : { before: move(before) }) };
}

function movedCheckpoint(checkpoint: Checkpoint, entryOf: (entry: number) => number): Checkpoint {
  const sequences = [...checkpoint.sequences].map(([name, sequence]) => {
    const segments = sequence.window.segments.map((each) => ({ ...each, entry: entryOf(each.entry) }));
    return [name, { ...sequence, window: { ...sequence.window, segments } }] as const;
  });
  return { ...checkpoint, sequences: new Map(sequences) };
}
