import type { JsonDocument } from '../../json/json-document.ts';
import type { Search } from '../search/search.ts';
import type { TextMatch } from '../search/search-result.ts';
import { ViewedTexts } from '../search/viewed-text.ts';
import { isFixedInEvent, roleBits, type Segment } from '../traverse/place.ts';
import { AnswerPlan } from './answer-plan.ts';
import { type AnswerRule, foundBy, refusalOf } from './answer-rule.ts';
import type { StreamVerdicts } from './stream-verdicts.ts';

interface WholeTextsOptions {
  readonly rules: readonly AnswerRule[];
  readonly search: Search;
  readonly verdicts: StreamVerdicts;
}

/** Checks the texts of a stream that do not continue in later events. */
export class WholeTexts {
  readonly #rules: readonly AnswerRule[];
  readonly #search: Search;
  readonly #verdicts: StreamVerdicts;

  constructor({ rules, search, verdicts }: WholeTextsOptions) {
    this.#rules = rules;
    this.#search = search;
    this.#verdicts = verdicts;
  }

  /** The replacements, by entry, in an event's texts other than `parts`, which are read in their channels. */
  replace(document: JsonDocument, parts: ReadonlySet<number>): ReadonlyMap<number, string> {
    const { matches } = this.#search.document(document, roleBits.assistant);
    if (matches.size === 0) return new Map();
    const isPart = ({ place }: Segment) => place.outer === undefined && parts.has(place.entry);
    const isWhole = ({ segment, before }: TextMatch) =>
      !isPart(segment) && (before === undefined || !isPart(before));
    const plan = new AnswerPlan({ document, search: this.#search, isFixed: isFixedInEvent });
    for (const each of this.#rules) {
      const found = foundBy(each, matches, plan.searched).filter(isWhole);
      if (found.length === 0) continue;
      this.#verdicts.add(each, () => plan.add(each, found));
    }
    this.#verdicts.refuse(plan.refusal(isWhole));
    return plan.texts();
  }

  /** Checks a text that is sent unchanged, or not at all: a redacting rule that matches refuses it. */
  check(document: JsonDocument, isMeant: (match: TextMatch) => boolean = () => true): void {
    const { matches } = this.#search.document(document, roleBits.assistant);
    const { patternSet } = this.#search;
    const searched = { patternSet, texts: new ViewedTexts(patternSet.fold) };
    for (const each of matches.size === 0 ? [] : this.#rules) {
      if (!foundBy(each, matches, searched).some(isMeant)) continue;
      this.#verdicts.add(each, () => this.#verdicts.refuse(refusalOf(each.rule, 'content.unredactable')));
    }
  }
}
