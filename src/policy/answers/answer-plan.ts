import type { JsonDocument } from '../../json/json-document.ts';
import { parseStrictJson } from '../../json/strict-json.ts';
import type { Pattern } from '../automaton/patterns.ts';
import { Plan } from '../redact/redact.ts';
import type { Refusal } from '../rule.ts';
import type { Search } from '../search/search.ts';
import type { TextMatch } from '../search/search-result.ts';
import { ViewedTexts } from '../search/viewed-text.ts';
import { type Place, roleBits } from '../traverse/place.ts';
import { type AnswerRule, foundBy, refusalOf, type Searched } from './answer-rule.ts';

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
