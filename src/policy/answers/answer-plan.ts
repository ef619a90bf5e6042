import type { JsonDocument } from '../../json/json-document.ts';
import { parseStrictJson } from '../../json/strict-json.ts';
import type { Pattern } from '../automaton/patterns.ts';
import { Plan } from '../redact/redact.ts';
import { createRedactable } from '../redact/redactable.ts';
import type { Refusal } from '../rule.ts';
import type { Search } from '../search/search.ts';
import type { TextMatch } from '../search/search-result.ts';
import { ViewedTexts } from '../search/viewed-text.ts';
import { isFixedInEvent, type Place, roleBits, type Segment } from '../traverse/place.ts';
import { type AnswerRule, foundBy, refusalOf, type Searched, type StreamVerdicts } from './answer-rule.ts';

interface AnswerPlanParts {
  readonly document: JsonDocument;
  readonly search: Search;
  /** What must not be changed; by default what would break a later request that contains it. */
  readonly isFixed?: (place: Place) => boolean;
}

/** What the rules replace in an answer or one of its events, or why they can't. */
export class AnswerPlan {
  readonly searched: Searched;
  readonly #search: Search;
  readonly #plan: Plan;
  readonly #rules: AnswerRule[] = [];
  #refusal: Refusal | undefined;

  constructor({ document, search, isFixed }: AnswerPlanParts) {
    this.#search = search;
    this.searched = { patternSet: search.patternSet, texts: new ViewedTexts(search.patternSet.fold) };
    this.#plan = new Plan(document, isFixed);
  }

  add(each: AnswerRule, found: readonly TextMatch[]): void {
    const { rule } = each;
    const { texts, patternSet } = this.searched;
    this.#rules.push(each);
    for (const match of found) {
      const pattern = patternSet.patterns[match.pattern] as Pattern;
      const label = `[REDACTED:${rule.reason}]`;
      const problem = this.#plan.add({ match, pattern, texts, except: rule.except, label });
      if (problem !== undefined) this.#refusal ??= refusalOf(rule, 'content.unredactable');
    }
  }

  /** The texts that change. */
  texts(): ReadonlyMap<number, string> {
    return this.#plan.texts();
  }

  /** The document's bytes with everything replaced. */
  bytes(): Buffer {
    return this.#plan.apply();
  }

  /** Set if something can't be replaced, or still matches across segments, such as text spread over three pieces. */
  refusal(isMeant: (match: TextMatch) => boolean = () => true): Refusal | undefined {
    if (this.#refusal !== undefined || this.#rules.length === 0) return this.#refusal;
    const { matches } = this.#search.document(parseStrictJson(this.bytes()), roleBits.assistant);
    const left = this.#rules.find((each) =>
      foundBy(each, matches, this.searched).some((match) => match.before !== undefined && isMeant(match)),
    );
    return left && refusalOf(left.rule, 'content.unredactable');
  }
}

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
    const isWithinOne = ({ segment, before }: TextMatch) =>
      !isPart(segment) && (before === undefined || !isPart(before));
    const mayChange = createRedactable(document);
    const isFixed = (place: Place) => (place.outer === undefined ? isFixedInEvent(place) : !mayChange(place));
    const plan = new AnswerPlan({ document, search: this.#search, isFixed });
    for (const each of this.#rules) {
      const found = foundBy(each, matches, plan.searched).filter(isWithinOne);
      if (found.length === 0) continue;
      this.#verdicts.add(each, () => plan.add(each, found));
    }
    this.#verdicts.refuse(plan.refusal(isWithinOne));
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
