import type { Pattern } from './automaton/patterns.ts';
import type { Subject } from './rule.ts';
import type { Search } from './search/search.ts';
import type { SearchResult, TextMatch } from './search/search-result.ts';
import { ViewedTexts } from './search/viewed-text.ts';
import { type Cap, findCaps } from './traverse/caps.ts';
import { otherModels } from './traverse/models.ts';
import { findTools, type OfferedTools } from './traverse/offered-tools.ts';

/** What texts are searched for, and the number of each pattern by its key. */
export interface Patterns {
  readonly search: Search;
  readonly numbers: ReadonlyMap<string, number>;
}

/** What rules check about one request; each fact is computed on first use, once for all rules. */
export class Facts {
  readonly subject: Subject;
  readonly #patterns: () => Patterns;
  #searchResult: SearchResult | undefined;
  #texts: ViewedTexts | undefined;
  #tools: OfferedTools | undefined;
  #caps: readonly Cap[] | undefined;
  #found: Map<unknown, readonly TextMatch[]> | undefined;

  /** `patterns` are asked for when a text is searched. `caps` replaces the caps of the request. */
  constructor(subject: Subject, patterns: () => Patterns, caps?: readonly Cap[]) {
    this.subject = subject;
    this.#patterns = patterns;
    this.#caps = caps;
  }

  /** Every name under which the model may be served: as asked for, at each provider, and in lists of substitutes. */
  get models(): readonly string[] {
    const { document, model, targetModels } = this.subject;
    return [model, ...targetModels, ...otherModels(document)];
  }

  get tools(): OfferedTools {
    this.#tools ??= findTools(this.subject.document);
    return this.#tools;
  }

  get caps(): readonly Cap[] {
    this.#caps ??= findCaps(this.subject.document, this.subject.dialect);
    return this.#caps;
  }

  get searchResult(): SearchResult {
    this.#searchResult ??= this.#patterns().search.request(this.subject.document, this.subject.dialect);
    return this.#searchResult;
  }

  /** The texts in which something was found. */
  get texts(): ViewedTexts {
    this.#texts ??= new ViewedTexts(this.#patterns().search.patternSet.fold);
    return this.#texts;
  }

  /** What a condition on texts found, looked for once: whether a rule applies and what it redacts both depend on it. */
  found(condition: unknown, find: () => readonly TextMatch[]): readonly TextMatch[] {
    this.#found ??= new Map();
    let found = this.#found.get(condition);
    if (found === undefined) {
      found = find();
      this.#found.set(condition, found);
    }
    return found;
  }

  pattern(number: number): Pattern {
    return this.#patterns().search.patternSet.patterns[number] as Pattern;
  }

  matches(patternKey: string): readonly TextMatch[] {
    const number = this.#patterns().numbers.get(patternKey);
    return number === undefined ? [] : (this.searchResult.matches.get(number) ?? []);
  }
}
