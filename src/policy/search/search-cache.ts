import { type Dialect, fieldOf } from '../../dialects/dialect.ts';
import type { JsonDocument } from '../../json/json-document.ts';
import { findNumber } from '../traverse/numbers.ts';
import type { Place, Segment } from '../traverse/place.ts';
import type { Checkpoint, Gatherer } from './gatherer.ts';
import type { SearchResult, TextMatch } from './search-result.ts';

/** What a search of a cached document found, and the points from which searches of longer ones may continue. */
interface CachedSearch {
  readonly owner: SearchCache;
  readonly dialect: Dialect;
  readonly searchResult: SearchResult;
  readonly found: readonly TextMatch[];
  readonly checkpoints: readonly Checkpoint[];
}

type FinishedSearch = Pick<CachedSearch, 'searchResult' | 'found' | 'checkpoints'>;

/** Searches with more matches than this are not cached. */
const placeLimit = 1_000;
/** Most bytes of nested documents that a cached search may reference. */
const nestedLimitBytes = 16_384;
const checkpointLimit = 24;
/** Open texts that the checkpoints of one search may hold in memory; a sequence weighs as much as several texts. */
const openLimit = 8_192;
const sequenceWeight = 8;
/** How many policy sets' searches of one document are cached; nearly always only one set reads it. */
const setLimit = 4;

/** The cached searches of all policy sets: few documents are cached, and few searches of each. */
export type SearchStore = WeakMap<JsonDocument, readonly CachedSearch[]>;

/**
 * One policy set's searches of cached documents, cached for as long as those are. A document with the same beginning
 * as one of them is searched only from the turn in which they differ: what the model reads before that turn is the
 * same, and so are the matches in it and the partial matches at its end.
 */
export class SearchCache {
  readonly #store: SearchStore;

  constructor(store: SearchStore) {
    this.#store = store;
  }

  /** The result for this very document. */
  get(document: JsonDocument, dialect: Dialect): SearchResult | undefined {
    return document.isCached ? this.#find(document, dialect)?.searchResult : undefined;
  }

  #find(document: JsonDocument, dialect: Dialect): CachedSearch | undefined {
    return this.#store.get(document)?.find((search) => search.owner === this && search.dialect === dialect);
  }

  /** Starts a search with what is cached; returns the turn at which it must continue, or undefined if nothing is. */
  resume(document: JsonDocument, dialect: Dialect, gatherer: Gatherer): number | undefined {
    const { sharedPrefix } = document;
    const before = sharedPrefix?.document.deref();
    if (sharedPrefix === undefined || before === undefined) return undefined;
    const known = this.#find(before, dialect);
    if (known === undefined) return undefined;
    const checkpoints = known.checkpoints.filter(({ turn }) => isBefore(turn, document, dialect));
    const last = checkpoints[checkpoints.length - 1];
    if (last === undefined || holdsNumbers(document, dialect)) return undefined;
    const shift = systemShift(before, document, { dialect, turn: last.turn });
    if (shift === undefined) return undefined;
    // Only the system prompt can come after the turn and yet have been read before it.
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

  store(document: JsonDocument, dialect: Dialect, search: FinishedSearch): void {
    if (!document.isCached || search.checkpoints.length === 0 || !isSmall(search)) return;
    const { searchResult, found } = search;
    const checkpoints = lastThatFit(thinnedOut(search.checkpoints));
    const others = (this.#store.get(document) ?? []).filter(({ owner }) => owner !== this);
    const kept = { owner: this, dialect, searchResult, found, checkpoints };
    this.#store.set(document, [...others.slice(1 - setLimit), kept]);
  }
}

/**
 * Whether everything before a turn is in the shared prefix. If the turn would be the entry right after the prefix, that
 * entry must not be inside the previous turn: an empty list there ends at the same entry as the turn itself.
 */
function isBefore(turn: number, document: JsonDocument, dialect: Dialect): boolean {
  const { entries = 0, innermost } = document.sharedPrefix ?? {};
  if (turn !== entries) return turn < entries;
  return innermost === document.root || innermost === fieldOf(document, dialect, 'turns');
}

function isSmall({ found, searchResult: { unseen } }: FinishedSearch): boolean {
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

/** Without every second one of the older checkpoints, if there are many. */
function thinnedOut(checkpoints: readonly Checkpoint[]): readonly Checkpoint[] {
  if (checkpoints.length <= checkpointLimit) return checkpoints;
  const recent = checkpoints.length - checkpointLimit / 2;
  return checkpoints.filter((_, at) => at % 2 === 0 || at >= recent);
}

/** The last checkpoints, as many as fit `openLimit`: a body of small texts can leave thousands open before each turn. */
function lastThatFit(checkpoints: readonly Checkpoint[]): readonly Checkpoint[] {
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

/** Numbers in place of turns are reported before all turns, so a search that continues midway would miss them. */
function holdsNumbers(document: JsonDocument, dialect: Dialect): boolean {
  const turns = fieldOf(document, dialect, 'turns');
  return turns !== undefined && findNumber(document, turns) !== undefined;
}

/**
 * The system prompt is read before all turns, wherever it is in the body. Returns by how many entries it has moved;
 * undefined if it has changed.
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
