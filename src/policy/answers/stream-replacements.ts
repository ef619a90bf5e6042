import { partitionPoint } from '../../partition-point.ts';
import type { Replacement } from '../redact/redact.ts';
import type { CompiledRule } from '../rules/compile-rule.ts';

export interface RuleReplacement extends Replacement {
  readonly rule: CompiledRule;
}

/** The replacements in a text that is sent part by part, by positions in the whole; none overlaps another. */
export class StreamReplacements {
  readonly #sorted: RuleReplacement[] = [];
  #fresh: RuleReplacement[] = [];
  /** Those before are over. */
  #first = 0;
  /** The end of the replacements whose label has been sent. */
  #labelledTo = 0;

  get isEmpty(): boolean {
    return this.#first === this.#sorted.length;
  }

  add(replacement: RuleReplacement): void {
    this.#fresh.push(replacement);
  }

  /** Takes in what was added: replacements that overlap become one, under the name of the first. */
  sort(): void {
    if (this.#fresh.length === 0) return;
    this.#dropSent();
    const [first, ...others] = this.#fresh.sort(inOrder);
    const later: RuleReplacement[] = [];
    while (this.#sorted.length > 0 && first !== undefined) {
      const last = this.#sorted.at(-1) as RuleReplacement;
      if (last.end <= first.start) break;
      later.push(last);
      this.#sorted.pop();
    }
    const fresh = first === undefined ? [] : [first, ...others];
    for (const each of later.length === 0 ? fresh : [...later, ...fresh].sort(inOrder)) this.#append(each);
    this.#fresh = [];
  }

  /** The position itself, or where the replacement begins that it lies in. */
  before(position: number): number {
    if (this.isEmpty) return position;
    const at = this.#after(position);
    const next = this.#sorted[at];
    return next !== undefined && next.start < position ? next.start : position;
  }

  /**
   * The replacements within a part, as positions in it. The label goes where its replacement begins. If that was sent
   * before the match was known, because the text continued after its apparent end, the label goes where the rest begins.
   */
  within({ start, end }: { readonly start: number; readonly end: number }): readonly RuleReplacement[] {
    while (this.#first < this.#sorted.length && (this.#sorted[this.#first] as RuleReplacement).end <= start) {
      this.#first += 1;
    }
    const touched: RuleReplacement[] = [];
    const labelledTo = this.#labelledTo;
    for (let at = this.#first; at < this.#sorted.length; at += 1) {
      const each = this.#sorted[at] as RuleReplacement;
      if (each.start >= end) break;
      this.#labelledTo = Math.max(this.#labelledTo, each.end);
      touched.push({
        start: Math.max(each.start, start) - start,
        end: Math.min(each.end, end) - start,
        label: each.start >= start || labelledTo < start ? each.label : '',
        rule: each.rule,
      });
    }
    return touched.length === 0 ? none : touched;
  }

  #after(position: number): number {
    return partitionPoint(this.#sorted.length, (at) => (this.#sorted[at] as RuleReplacement).end <= position);
  }

  #append(each: RuleReplacement): void {
    const last = this.#sorted.at(-1);
    if (last === undefined || last.end <= each.start) this.#sorted.push(each);
    else if (each.end > last.end) this.#sorted[this.#sorted.length - 1] = { ...last, end: each.end };
  }

  #dropSent(): void {
    if (this.#first * 2 < this.#sorted.length) return;
    this.#sorted.splice(0, this.#first);
    this.#first = 0;
  }
}

const none: readonly RuleReplacement[] = [];

function inOrder(one: Replacement, other: Replacement): number {
  return one.start - other.start || other.end - one.end;
}
