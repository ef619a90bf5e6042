import type { Dialect, Role } from '../../dialects/dialect.ts';
import { type JsonDocument, kinds } from '../../json/json-document.ts';
import type { PatternSet } from '../automaton/patterns.ts';
import { type Checkpoint, unhurried } from '../checkpoint.ts';
import { type Place, type Segment, type Unit, wholeUnit } from '../traverse/place.ts';
import { type Context, joins, type Visitor } from '../traverse/reading-order.ts';
import type { UnseenKind } from '../traverse/unseen.ts';
import { createWalk, type Walk } from '../traverse/walk.ts';
import { CrossSegmentMatcher } from './cross-segment.ts';
import type { Piece, SearchResult, TextMatch, Unreadable, Unseen } from './search-result.ts';
import type { CrossSegmentListener } from './segment-window.ts';
import { type PatternMatch, TextReader } from './text-reader.ts';

/** Matches over two texts that a further one is compared with. */
const recentMatches = 16;

/** Searches whole documents for all patterns of a set. */
export class Search {
  readonly patternSet: PatternSet;
  readonly #reader: TextReader;
  readonly #walk: Walk;

  constructor(patternSet: PatternSet) {
    this.patternSet = patternSet;
    this.#reader = new TextReader(patternSet);
    this.#walk = createWalk();
  }

  /** What is in a request. */
  request(document: JsonDocument, dialect: Dialect, checkpoint?: Checkpoint): SearchResult {
    const gatherer = new Gatherer(this.patternSet, this.#reader, checkpoint);
    this.#walk.request(document, dialect, gatherer);
    return gatherer.finish();
  }

  /** A document without roles: an answer, or anything else. */
  document(document: JsonDocument, roles: number, checkpoint?: Checkpoint): SearchResult {
    const gatherer = new Gatherer(this.patternSet, this.#reader, checkpoint);
    this.#walk.document(document, roles, gatherer);
    return gatherer.finish();
  }
}

/** Consecutive turns of one role, by the first. */
interface Run {
  readonly turn: number;
  readonly role: Role | undefined;
}

/** Gathers what a walk finds, in the order of the walk. */
class Gatherer implements Visitor {
  readonly found: TextMatch[] = [];
  readonly unseenPlaces: Unseen[] = [];
  readonly unreadablePlaces: Unreadable[] = [];
  readonly #conversation: Segment[] = [];
  readonly #patternSet: PatternSet;
  readonly #reader: TextReader;
  readonly #checkpoint: Checkpoint;
  #crossing: CrossSegmentMatcher;
  /** Where texts stand from here on. */
  #unit: Unit = wholeUnit;
  #run: Run = { turn: 0, role: undefined };
  readonly #across: CrossSegmentListener = ({ pattern, view }, segment, before, pieces) =>
    this.#noteOnce({ pattern, view, segment, before, ...(pieces === undefined ? undefined : { pieces }) });

  constructor(patternSet: PatternSet, reader: TextReader, checkpoint = unhurried) {
    this.#patternSet = patternSet;
    this.#reader = reader;
    this.#checkpoint = checkpoint;
    this.#crossing = new CrossSegmentMatcher(patternSet, checkpoint);
  }

  text(document: JsonDocument, entry: number, context: Context): void {
    // Where the tables of the automata are still empty, a character costs them half of what it costs a detector.
    this.#checkpoint((document.end(entry) - document.start(entry)) / 2);
    if (this.#patternSet.asks && isConversation(document, entry, context)) {
      this.#conversation.push(this.#segment(document, entry, context));
    }
    if (!context.isJoined) {
      const patternMatches = this.#reader.patternMatches(document, entry, this.#checkpoint);
      if (patternMatches.length > 0) this.#noteAll(patternMatches, this.#segment(document, entry, context));
      return;
    }
    if (document.end(entry) === document.start(entry)) return;
    const { conversation, own } = context;
    const segment = this.#segment(document, entry, context);
    const verdict = this.#reader.read(document, entry, this.#checkpoint);
    this.#noteAll(verdict.patternMatches, segment);
    if (conversation !== joins.none) this.#crossing.add('conversation', segment, verdict, this.#across);
    if (own !== undefined) this.#crossing.add(own, required(segment), verdict, this.#across);
  }

  unseen(kind: UnseenKind, place: Place): void {
    this.unseenPlaces.push({ kind, place });
  }

  unreadable(place: Place, roles: number): void {
    this.unreadablePlaces.push({ place, roles });
  }

  block(entry: number): void {
    const { turn, run } = this.#unit;
    this.#unit = { all: 0, block: entry, turn, run };
  }

  turn(entry: number, role: Role | undefined): void {
    if (role === undefined || role !== this.#run.role) this.#run = { turn: entry, role };
    this.#unit = { all: 0, block: entry, turn: entry, run: this.#run.turn };
  }

  part(): void {
    this.#crossing.finish(this.#across);
    this.#crossing = new CrossSegmentMatcher(this.#patternSet, this.#checkpoint);
  }

  /** A text that is in two sequences may match across the same adjacent segments in both. */
  #noteOnce(match: TextMatch): void {
    const { found } = this;
    for (let at = Math.max(0, found.length - recentMatches); at < found.length; at += 1) {
      if (isSame(found[at] as TextMatch, match)) return;
    }
    found.push(match);
  }

  finish(): SearchResult {
    this.#crossing.finish(this.#across);
    const matches = this.found.length === 0 ? nothing : byPattern(this.found);
    return {
      matches,
      unseen: this.unseenPlaces,
      unreadable: this.unreadablePlaces,
      conversation: this.#conversation,
    };
  }

  #segment(document: JsonDocument, entry: number, context: Context): Segment {
    const place = context.place(document, entry);
    return { place, roles: context.roles, optional: context.leftOut, unit: this.#unit };
  }

  #noteAll(patternMatches: readonly PatternMatch[], segment: Segment): void {
    for (const { pattern, view } of patternMatches) this.found.push({ pattern, view, segment });
  }
}

/** The sequences of what bytes are, and of those themselves, which are asked about when they are decoded. */
const ofBytes = new Set(['.data', '.media_type', '.mime_type', '.mimeType']);
/** A data URL, or enough characters of base64 to be more than an id. */
const base64 =
  /^(?:data:(?:[a-z0-9.+-]+\/[a-z0-9.+-]+)?(?:;charset=[\w-]+)?;base64,|(?=.{128}))([A-Za-z0-9+/_-]*)={0,2}$/i;
/** What words and numbers consist of; in encoded bytes a sixth of the characters, and in hexadecimal ones a quarter. */
const wordlike = /(?!(.)\1{3})(?:[a-z]{4,}|[A-Z]{4,}|[0-9]{8,})/g;

/** Whether a text is encoded bytes, rather than words that no blank stands between. */
function isBytes(text: string): boolean {
  const [, characters = ''] = base64.exec(text) ?? [];
  let inWords = 0;
  for (const [word] of characters.matchAll(wordlike)) inWords += word.length;
  return characters !== '' && inWords * 3 < characters.length;
}

/**
 * Whether a service is asked about a text: what models read, and no names, ids or bytes. Of a text that is JSON itself it
 * is asked about the whole, and about those texts in it that the whole has in another spelling.
 */
function isConversation(document: JsonDocument, entry: number, context: Context): boolean {
  const { isJoined, origin, own } = context;
  if (document.kind(entry) !== kinds.string || document.isKey(entry)) return false;
  const isRespelled = origin !== undefined && (origin.isDecoded || document.isEscaped(entry));
  if (!isJoined && !context.isUnlisted && !isRespelled) return false;
  if (origin === undefined && own !== undefined && ofBytes.has(own)) return false;
  const text = document.text(entry);
  return /[\p{L}\p{N}]/u.test(text) && !isBytes(text);
}

const nothing: SearchResult['matches'] = new Map();

function byPattern(found: readonly TextMatch[]): SearchResult['matches'] {
  const matches = new Map<number, TextMatch[]>();
  for (const match of found) {
    const same = matches.get(match.pattern);
    if (same === undefined) matches.set(match.pattern, [match]);
    else same.push(match);
  }
  return matches;
}

function isSame(one: TextMatch, other: TextMatch): boolean {
  if (one.before === undefined || other.before === undefined || one.pattern !== other.pattern) return false;
  if (!isSamePlace(one.segment, other.segment) || !isSamePlace(one.before, other.before)) return false;
  const { pieces = [] } = one;
  const { pieces: others = [] } = other;
  return pieces.length === others.length && pieces.every((piece, at) => isSamePiece(piece, others[at]));
}

function isSamePiece(one: Piece, other: Piece | undefined): boolean {
  if (other === undefined || one.start !== other.start || one.end !== other.end) return false;
  return isSamePlace(one.segment, other.segment);
}

function isSamePlace({ place: one }: Segment, { place: other }: Segment): boolean {
  return one.document === other.document && one.entry === other.entry;
}

/** In the sequence of its own kind no text is optional. */
function required(segment: Segment): Segment {
  return segment.optional === undefined ? segment : { ...segment, optional: undefined };
}
