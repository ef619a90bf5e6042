import { partitionPoint } from '../lib/partition-point.ts';

/** A part of a text by its positions, and what replaces it. */
export interface TextChange {
  readonly start: number;
  readonly end: number;
  readonly label: string;
}

/**
 * A text that comes in pieces and leaves in pieces: whoever searches it says what is replaced and up to where it may
 * leave. Positions count from its beginning, although what is not needed any more is forgotten.
 */
export class HeldText<Change extends TextChange = TextChange> {
  /** Up to where it may leave: nothing before is part of a match that is not known yet. */
  limit = 0;
  /** The end of the text, from a position on. */
  #rest = '';
  #from = 0;
  readonly #sorted: Change[] = [];
  #fresh: Change[] = [];
  /** Those before are over. */
  #first = 0;
  /** The end of the changes whose label has left. */
  #labelledTo = 0;

  /** Length of the text so far. */
  get length(): number {
    return this.#from + this.#rest.length;
  }

  /** Where what is kept of it begins. */
  get from(): number {
    return this.#from;
  }

  /** What is kept of it. */
  get rest(): string {
    return this.#rest;
  }

  /** Returns where the piece begins. */
  add(piece: string): number {
    const start = this.length;
    this.#rest += piece;
    return start;
  }

  slice(start: number, end: number): string {
    return this.#rest.slice(Math.max(0, start - this.#from), end - this.#from);
  }

  /** What may leave of it, where nothing is replaced. */
  take(): string {
    const left = this.slice(this.#from, this.limit);
    this.#rest = this.#rest.slice(left.length);
    this.#from += left.length;
    return left;
  }

  /** What is before is not needed any more. Not each time, since the rest is copied: where it is `spare` characters. */
  forget(before: number, spare = 0): void {
    const count = before - this.#from;
    if (count <= 0 || count < spare || count < this.#rest.length - count) return;
    this.#rest = this.#rest.slice(count);
    this.#from = before;
  }

  /** Whether anything in what has not left is replaced. */
  get hasChanges(): boolean {
    return this.#first < this.#sorted.length;
  }

  change(change: Change): void {
    this.#fresh.push(change);
  }

  /** Sets the limit, but not within a change: one that overlaps another becomes one with it, under the name of the first. */
  release(limit: number): void {
    this.#sort();
    this.limit = this.#before(limit);
  }

  /**
   * The changes within a part that leaves, as positions in it; parts come in their order. The label goes where its change
   * begins. If that left before the match was known, because the text went on after its apparent end, the label goes where
   * the rest begins.
   */
  within(start: number, end: number): readonly Change[] {
    while (this.#first < this.#sorted.length && (this.#sorted[this.#first] as Change).end <= start) {
      this.#first += 1;
    }
    const touched: Change[] = [];
    const labelledTo = this.#labelledTo;
    for (let at = this.#first; at < this.#sorted.length; at += 1) {
      const each = this.#sorted[at] as Change;
      if (each.start >= end) break;
      this.#labelledTo = Math.max(this.#labelledTo, each.end);
      touched.push({
        ...each,
        start: Math.max(each.start, start) - start,
        end: Math.min(each.end, end) - start,
        label: each.start >= start || labelledTo < start ? each.label : '',
      });
    }
    return touched.length === 0 ? none : touched;
  }

  #sort(): void {
    if (this.#fresh.length === 0) return;
    this.#dropSent();
    const fresh = this.#fresh.sort(inOrder);
    const { start } = fresh[0] as Change;
    const later: Change[] = [];
    while (this.#sorted.length > 0) {
      const last = this.#sorted.at(-1) as Change;
      if (last.end <= start) break;
      later.push(last);
      this.#sorted.pop();
    }
    for (const each of later.length === 0 ? fresh : [...later, ...fresh].sort(inOrder)) this.#append(each);
    this.#fresh = [];
  }

  /** The position itself, or where the change begins that it lies in. */
  #before(position: number): number {
    if (!this.hasChanges) return position;
    const at = partitionPoint(this.#sorted.length, (i) => (this.#sorted[i] as Change).end <= position);
    const next = this.#sorted[at];
    return next !== undefined && next.start < position ? next.start : position;
  }

  #append(each: Change): void {
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

const none: readonly never[] = [];

function inOrder(one: TextChange, other: TextChange): number {
  return one.start - other.start || other.end - one.end;
}
