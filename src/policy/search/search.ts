import type { Dialect } from '../../dialects/dialect.ts';
import type { JsonDocument } from '../../json/json-document.ts';
import type { PatternSet } from '../automaton/pattern-set.ts';
import { createWalk, type Walk } from '../traverse/walk.ts';
import { Gatherer } from './gatherer.ts';
import { KnownWalks, type WalkCache } from './known-walks.ts';
import type { SearchResult } from './search-result.ts';
import { TextReader } from './text-reader.ts';

/** Searches whole documents for all patterns of a set. */
export class Search {
  readonly patternSet: PatternSet;
  readonly #reader: TextReader;
  readonly #walk: Walk;
  readonly #known: KnownWalks;

  constructor(patternSet: PatternSet, cache: WalkCache = new WeakMap()) {
    this.#known = new KnownWalks(cache);
    this.patternSet = patternSet;
    this.#reader = new TextReader(patternSet);
    this.#walk = createWalk();
  }

  /** What is in a request; what is known of a kept document, or of one that begins like it, is not looked for again. */
  request(document: JsonDocument, dialect: Dialect): SearchResult {
    const known = this.#known.recall(document, dialect);
    if (known !== undefined) return known;
    const gatherer = new Gatherer(this.patternSet, this.#reader, document.isKept);
    const turn = this.#known.resume(document, dialect, gatherer);
    if (turn === undefined) this.#walk.request(document, dialect, gatherer);
    else this.#walk.resume(document, dialect, { turn, visitor: gatherer });
    const searchResult = gatherer.finish();
    this.#known.keep(document, dialect, {
      searchResult,
      found: gatherer.found,
      checkpoints: gatherer.checkpoints,
    });
    return searchResult;
  }

  /** A document without roles: an answer, or anything else. */
  document(document: JsonDocument, roles: number): SearchResult {
    const gatherer = new Gatherer(this.patternSet, this.#reader, false);
    this.#walk.document(document, roles, gatherer);
    return gatherer.finish();
  }
}
