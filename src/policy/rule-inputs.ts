import { type JsonDocument, kinds } from '../json/json-document.ts';
import { compilePatternSet, type NamedPattern, type Pattern } from './automaton/patterns.ts';
import { type Checkpoint, unhurried } from './checkpoint.ts';
import type { Fold } from './fold/fold.ts';
import type { Subject } from './rule.ts';
import { Search } from './search/search.ts';
import type { SearchResult, TextMatch } from './search/search-result.ts';
import { ViewedTexts } from './search/viewed-text.ts';
import { type Attachments, findAttachments } from './traverse/attachments.ts';
import { findTools, type OfferedTools } from './traverse/offered-tools.ts';
import { type Cap, findCaps } from './traverse/settings.ts';
import { worstInputTokens } from './traverse/worst-input.ts';

// Lists that some hosts try when the model can't serve: of names, or of objects with one.
export const substituteFields = ['models', 'fallbacks', 'fallback_models', 'fallback_model'] as const;

/** Names of models in a request besides its `model`: substitutes, and those that its tools, plugins and preset use. */
function otherModels(document: JsonDocument): readonly string[] {
  const found: string[] = [];
  for (const field of substituteFields) {
    const entry = document.member(document.root, field);
    if (entry !== undefined) collect(document, entry, found);
  }
  const tools = document.member(document.root, 'tools');
  for (const tool of tools === undefined ? [] : document.elements(tools)) {
    const name = document.memberText(tool, 'model');
    if (name !== undefined) found.push(name);
  }
  collectOpenRouters(document, found);
  return found;
}

const ofModels = /models?$/i;

/** A plugin of OpenRouter may choose among models; a preset names one that only its account knows, by this name. */
function collectOpenRouters(document: JsonDocument, found: string[]): void {
  const preset = document.memberText(document.root, 'preset');
  if (preset !== undefined) found.push(`@preset/${preset}`);
  const plugins = document.member(document.root, 'plugins');
  for (const plugin of plugins === undefined ? [] : document.elements(plugins)) {
    if (document.kind(plugin) !== kinds.object) continue;
    for (let key = plugin + 1; key < document.next(plugin); key = document.next(key + 1)) {
      if (ofModels.test(document.text(key))) collect(document, key + 1, found);
    }
  }
}

function collect(document: JsonDocument, entry: number, found: string[]): void {
  if (document.kind(entry) === kinds.string) found.push(document.text(entry));
  const name = document.memberText(entry, 'model');
  if (name !== undefined) found.push(name);
  for (const each of document.elements(entry)) collect(document, each, found);
}

/** What texts are searched for, and the number of each pattern by its key. */
export interface Patterns {
  readonly search: Search;
  readonly numbers: ReadonlyMap<string, number>;
}

/** Compiles what is to be searched for together, each pattern once. */
export function compileSearch(given: readonly NamedPattern[], fold: Fold): Patterns {
  const patterns = [...new Map(given.map((each) => [each.key, each])).values()];
  const numbers = new Map(patterns.map(({ key }, number) => [key, number]));
  const patternSet = compilePatternSet(
    patterns.map(({ pattern }) => pattern),
    fold,
  );
  return { search: new Search(patternSet), numbers };
}

/** Compiles the same patterns once, whoever asks for them. */
export type SharedSearch = (patterns: readonly NamedPattern[]) => Patterns;

/** Automata are large, and what one text has taught them serves all. Keys must mean the same to everybody who shares it. */
export function shareSearches(fold: Fold): SharedSearch {
  const known = new Map<string, Patterns>();
  return (patterns) => {
    const keys = JSON.stringify([...new Set(patterns.map(({ key }) => key))]);
    const found = known.get(keys) ?? compileSearch(patterns, fold);
    known.set(keys, found);
    return found;
  };
}

const nothingFound: SearchResult = { matches: new Map(), unseen: [], unreadable: [], conversation: [] };

/** What rules check about one request; each fact is computed on first use, once for all rules. */
export class RuleInputs {
  readonly subject: Subject;
  readonly checkpoint: Checkpoint;
  readonly #patterns: () => Patterns;
  #searchResult: SearchResult | undefined;
  #texts: ViewedTexts | undefined;
  #tools: OfferedTools | undefined;
  #caps: readonly Cap[] | undefined;
  #found: Map<unknown, readonly TextMatch[]> | undefined;
  #attachments: Attachments | undefined;
  #inputTokens: number | undefined;
  readonly #peakTokens: number;

  /**
   * `patterns` are asked for when a text is searched. `peakTokens` is the largest size that its conversation has had.
   */
  constructor(
    subject: Subject,
    patterns: () => Patterns,
    {
      checkpoint = unhurried,
      peakTokens = 0,
    }: {
      readonly checkpoint?: Checkpoint;
      readonly peakTokens?: number;
    } = {},
  ) {
    this.subject = subject;
    this.checkpoint = checkpoint;
    this.#patterns = patterns;
    this.#peakTokens = peakTokens;
  }

  /** The same request where it is known who may be asked for it: what was found in it is not looked for again. */
  withTargets({
    targetModels,
    providers,
  }: Required<Pick<Subject, 'targetModels' | 'providers'>>): RuleInputs {
    const subject = { ...this.subject, targetModels, providers };
    return this.#copy(subject, this.#caps);
  }

  /** The same request as if it had these caps. */
  withCaps(caps: readonly Cap[]): RuleInputs {
    return this.#copy(this.subject, caps);
  }

  #copy(subject: Subject, caps: readonly Cap[] | undefined): RuleInputs {
    const inputs = new RuleInputs(subject, this.#patterns, { checkpoint: this.checkpoint });
    inputs.#caps = caps;
    inputs.#searchResult = this.#searchResult;
    inputs.#texts = this.#texts;
    inputs.#tools = this.#tools;
    inputs.#found = this.#found;
    inputs.#attachments = this.#attachments;
    inputs.#inputTokens = this.#inputTokens;
    return inputs;
  }

  /** Every name under which the model may be served: as asked for, at each provider, and in lists of substitutes. */
  get models(): readonly string[] {
    const { document, model, targetModels } = this.subject;
    return [model, ...targetModels, ...otherModels(document)];
  }

  get tools(): OfferedTools {
    this.#tools ??= findTools(this.subject.document, this.subject.dialect);
    return this.#tools;
  }

  get caps(): readonly Cap[] {
    this.#caps ??= findCaps(this.subject.document, this.subject.dialect);
    return this.#caps;
  }

  get attachments(): Attachments {
    this.#attachments ??= findAttachments(this.subject.document);
    return this.#attachments;
  }

  /** The most input tokens that the request is likely to be counted as, as limits reserve them. */
  get inputTokens(): number {
    this.#inputTokens ??= worstInputTokens(this.subject.document);
    return this.#inputTokens;
  }

  /** The largest size that its conversation has had, unless it has been cut to less than half of that since: then 0. */
  get peakTokens(): number {
    return this.inputTokens * 2 < this.#peakTokens ? 0 : this.#peakTokens;
  }

  get searchResult(): SearchResult {
    this.#searchResult ??= this.subject.standsForAny
      ? nothingFound
      : this.#patterns().search.request(this.subject.document, this.subject.dialect, this.checkpoint);
    return this.#searchResult;
  }

  /** The texts in which something was found. */
  get texts(): ViewedTexts {
    this.#texts ??= new ViewedTexts(this.#patterns().search.patternSet.fold, this.checkpoint);
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

  /** The number of a pattern that is among those that were compiled. */
  numberOf(patternKey: string): number {
    return this.#patterns().numbers.get(patternKey) ?? -1;
  }

  matches(patternKey: string): readonly TextMatch[] {
    const number = this.#patterns().numbers.get(patternKey);
    return number === undefined ? [] : (this.searchResult.matches.get(number) ?? []);
  }
}
