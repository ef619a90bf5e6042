import type { Dialect, Role } from '../../dialects/dialect.ts';
import { type JsonDocument, kinds } from '../../json/json-document.ts';
import { BorderReader } from '../automaton/border-reader.ts';
import type { PatternSet } from '../automaton/patterns.ts';
import { type Checkpoint, unhurried } from '../checkpoint.ts';
import type { Place, Segment } from '../traverse/place.ts';
import { type Context, joins, type Visitor } from '../traverse/reading-order.ts';
import type { UnseenKind } from '../traverse/unseen.ts';
import { createWalk, type Walk } from '../traverse/walk.ts';
import type { SearchResult, TextMatch, Unreadable, Unseen } from './search-result.ts';
import { type PatternMatch, TextReader } from './text-reader.ts';
import { Windows } from './windows.ts';

/** Searches whole documents for all patterns of a set. */
export class Search {
  readonly patternSet: PatternSet;
  readonly #borderReader: BorderReader;
  readonly #walk: Walk;

  constructor(patternSet: PatternSet) {
    this.patternSet = patternSet;
    this.#borderReader = new BorderReader(patternSet.scanner);
    this.#walk = createWalk();
  }

  /** What is in a request. */
  request(document: JsonDocument, dialect: Dialect, checkpoint?: Checkpoint): SearchResult {
    const gatherer = this.#gatherer(checkpoint);
    this.#walk.request(document, dialect, gatherer);
    return gatherer.finish();
  }

  /** A document without roles: an answer, or anything else. */
  document(document: JsonDocument, roles: number, checkpoint?: Checkpoint): SearchResult {
    const gatherer = this.#gatherer(checkpoint);
    this.#walk.document(document, roles, gatherer);
    return gatherer.finish();
  }

  #gatherer(checkpoint = unhurried): Gatherer {
    const { patternSet } = this;
    return new Gatherer({ patternSet, borderReader: this.#borderReader, checkpoint });
  }
}

interface GathererParts {
  readonly patternSet: PatternSet;
  readonly borderReader: BorderReader;
  readonly checkpoint: Checkpoint;
}

const none: readonly never[] = [];

/** Gathers what a walk finds, in the order of the walk. */
class Gatherer implements Visitor {
  // Made when there is something for them: of most requests there is nothing.
  #found: TextMatch[] | undefined;
  #unseen: Unseen[] | undefined;
  #unreadable: Unreadable[] | undefined;
  #conversation: Segment[] | undefined;
  readonly #patternSet: PatternSet;
  readonly #reader: TextReader;
  readonly #checkpoint: Checkpoint;
  readonly #windows: Windows;
  // Where texts stand from here on.
  #block = 0;
  #turn = 0;
  /** The first of consecutive turns of one role. */
  #run = 0;
  #role: Role | undefined;

  constructor({ patternSet, borderReader, checkpoint }: GathererParts) {
    this.#patternSet = patternSet;
    this.#reader = new TextReader(patternSet);
    this.#checkpoint = checkpoint;
    const report = (match: TextMatch) => this.#report(match);
    this.#windows = new Windows({ patternSet, borderReader, checkpoint, report });
  }

  text(document: JsonDocument, entry: number, context: Context): void {
    // Where the tables of the automata are still empty, a character costs them half of what it costs a detector.
    this.#checkpoint((document.end(entry) - document.start(entry)) >> 1);
    if (this.#patternSet.asks && isConversation(document, entry, context)) {
      this.#conversation ??= [];
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
    if (conversation !== joins.none) this.#windows.add('conversation', segment, verdict);
    if (own !== undefined) this.#windows.add(own, required(segment), verdict);
  }

  unseen(kind: UnseenKind, place: Place): void {
    this.#unseen ??= [];
    this.#unseen.push({ kind, place });
  }

  unreadable(place: Place, roles: number): void {
    this.#unreadable ??= [];
    this.#unreadable.push({ place, roles });
  }

  block(entry: number): void {
    this.#block = entry;
  }

  turn(entry: number, role: Role | undefined): void {
    if (role === undefined || role !== this.#role) this.#run = entry;
    this.#role = role;
    this.#turn = entry;
    this.#block = entry;
  }

  part(): void {
    this.#windows.end();
  }

  finish(): SearchResult {
    this.#windows.end();
    const matches = this.#found === undefined ? nothing : byPattern(this.#found);
    return {
      matches,
      unseen: this.#unseen ?? none,
      unreadable: this.#unreadable ?? none,
      conversation: this.#conversation ?? none,
    };
  }

  #report(match: TextMatch): void {
    this.#found ??= [];
    this.#found.push(match);
  }

  #segment(document: JsonDocument, entry: number, context: Context): Segment {
    const place = context.place(document, entry);
    const unit = { all: 0, block: this.#block, turn: this.#turn, run: this.#run } as const;
    return { place, roles: context.roles, optional: context.leftOut, unit };
  }

  #noteAll(patternMatches: readonly PatternMatch[], segment: Segment): void {
    for (const { pattern, view } of patternMatches) this.#report({ pattern, view, segment });
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

/** In the sequence of its own kind no text is optional. */
function required(segment: Segment): Segment {
  return segment.optional === undefined ? segment : { ...segment, optional: undefined };
}
