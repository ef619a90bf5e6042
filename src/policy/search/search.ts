import type { Dialect } from '../../dialects/dialect.ts';
import type { JsonDocument } from '../../json/json-document.ts';
import type { PatternSet } from '../automaton/pattern-set.ts';
import { createWalk, type Walk } from '../traverse/walk.ts';
import { Gatherer } from './gatherer.ts';
import type { SearchResult } from './search-result.ts';
import { TextReader } from './text-reader.ts';

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
  request(document: JsonDocument, dialect: Dialect): SearchResult {
    const gatherer = new Gatherer(this.patternSet, this.#reader);
    this.#walk.request(document, dialect, gatherer);
    return gatherer.finish();
  }

  /** A document without roles: an answer, or anything else. */
  document(document: JsonDocument, roles: number): SearchResult {
    const gatherer = new Gatherer(this.patternSet, this.#reader);
    this.#walk.document(document, roles, gatherer);
    return gatherer.finish();
  }
}
