import type { HeldText, TextChange } from '../../dialects/held-text.ts';
import type { StreamPart } from '../../dialects/stream-parts.ts';
import { applyReplacements } from '../redact/redact.ts';
import type { StreamEvent } from './stream-event.ts';

/** Where a piece of an event stands in a text that is held. */
export interface HeldRange<Change extends TextChange = TextChange> {
  readonly text: HeldText<Change>;
  readonly start: number;
  readonly end: number;
}

/** A piece of an event: its own text, then those in which it is read together with others. */
export interface HeldPiece<Change extends TextChange = TextChange> {
  readonly part: StreamPart;
  readonly ranges: readonly HeldRange<Change>[];
}

interface Held<Change extends TextChange> {
  readonly event: StreamEvent;
  readonly pieces: readonly HeldPiece<Change>[];
}

/** Called for each piece that changes, with what changes in its own text and in the others. */
type OnChange<Change extends TextChange> = (
  part: StreamPart,
  own: readonly Change[],
  others: readonly Change[],
) => void;

/**
 * Events in their order. Each leaves, with the changes of its texts, once nothing in them can be part of a match. Signs of
 * life don't wait behind others: a connection on which nothing comes for a minute is ended on its way.
 */
export class HeldEvents<Change extends TextChange = TextChange> {
  readonly #onChange: OnChange<Change> | undefined;
  #held: Held<Change>[] = [];
  /** Those before have left. */
  #first = 0;
  /** Whether something had to stay when events were last released. */
  #isHolding = false;
  #signsOfLife: StreamEvent[] = [];
  /** Characters of the events that are held. */
  size = 0;

  constructor(onChange?: OnChange<Change>) {
    this.#onChange = onChange;
  }

  get isEmpty(): boolean {
    return this.#first === this.#held.length;
  }

  add(event: StreamEvent, pieces: readonly HeldPiece<Change>[] = []): void {
    if (this.#isHolding && pieces.length === 0 && event.isSignOfLife)
      return void this.#signsOfLife.push(event);
    this.#held.push({ event, pieces });
    this.size += event.data.length;
  }

  /** Those that may leave now. `mayGoOn` is asked before each. */
  release(mayGoOn: () => boolean = () => true): readonly StreamEvent[] {
    const released = mayGoOn() ? this.#signsOfLife : [];
    this.#signsOfLife = [];
    for (let next = this.#held[this.#first]; next !== undefined; next = this.#held[this.#first]) {
      if (!mayLeave(next.pieces) || !mayGoOn()) break;
      for (const piece of next.pieces) this.#rewrite(next.event, piece);
      released.push(next.event);
      this.size -= next.event.data.length;
      this.#first += 1;
    }
    this.#isHolding = !this.isEmpty;
    // Not each time: what is left is copied.
    if (this.#first * 2 >= this.#held.length) {
      this.#held = this.#first === this.#held.length ? [] : this.#held.slice(this.#first);
      this.#first = 0;
    }
    return released;
  }

  #rewrite(event: StreamEvent, { part, ranges }: HeldPiece<Change>): void {
    if (!ranges.some(({ text }) => text.hasChanges)) return;
    const [own = [], ...rest] = ranges.map(({ text, start, end }) => text.within(start, end));
    const others = rest.flat();
    const all = others.length === 0 ? own : [...own, ...others];
    if (all.length === 0) return;
    this.#onChange?.(part, own, others);
    event.change(part.entry, applyReplacements(event.textOf(part), all));
  }
}

function mayLeave(pieces: readonly HeldPiece<TextChange>[]): boolean {
  for (const { ranges } of pieces) for (const { text, end } of ranges) if (end > text.limit) return false;
  return true;
}
