import type { Dialect } from '../../dialects/dialect.ts';
import type { JsonDocument } from '../../json/json-document.ts';
import type { PatternSet } from '../automaton/pattern-set.ts';
import { createWalk, type Walk } from '../traverse/walk.ts';
import { Gatherer } from './gatherer.ts';
import { SearchCache, type SearchStore } from './search-cache.ts';
import type { SearchResult } from './search-result.ts';
import { TextReader } from './text-reader.ts';

/** Searches whole documents for all patterns of a set. */
export class Search {
  readonly patternSet: PatternSet;
  readonly #reader: TextReader;
  readonly #walk: Walk;
  readonly #cache: SearchCache;

  constructor(patternSet: PatternSet, store: SearchStore = new WeakMap()) {
    this.#cache = new SearchCache(store);
    this.patternSet = patternSet;
    this.#reader = new TextReader(patternSet);
    this.#walk = createWalk();
  }

  /** What is in a request. Results for a cached document, or for a prefix shared with one, are not computed again. */
  request(document: JsonDocument, dialect: Dialect): SearchResult {
    const cached = this.#cache.get(document, dialect);
    if (cached !== undefined) return cached;
    const gatherer = new Gatherer(this.patternSet, this.#reader, document.isCached);
    const turn = this.#cache.resume(document, dialect, gatherer);
    if (turn === undefined) this.#walk.request(document, dialect, gatherer);
    else this.#walk.resume(document, dialect, { turn, visitor: gatherer });
    const searchResult = gatherer.finish();
    this.#cache.store(document, dialect, {
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
