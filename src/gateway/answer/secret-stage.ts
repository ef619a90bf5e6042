import { HeldText } from '../../dialects/held-text.ts';
import type { StreamPart } from '../../dialects/stream-parts.ts';
import { HeldEvents, type HeldPiece, type HeldRange } from '../../policy/streams/held-events.ts';
import type { Stage } from '../../policy/streams/stage.ts';
import type { StreamEvent } from '../../policy/streams/stream-event.ts';
import type { Scrubber } from '../scrub.ts';

/** Characters with which a secret may begin that are not held back: they say nothing. */
const maxSentLength = 2;
/** Maximum characters of events that are held back. */
const heldLimit = 65_536;

/**
 * Removes secrets that a provider splits: over the pieces of a text, and over texts that clients join. What is
 * in one piece is scrubbed from the bytes. Events are read only where one may begin or go on, so that others pass as
 * they came.
 */
export class SecretStage implements Stage {
  readonly #scrubber: Scrubber;
  readonly #held = new HeldEvents();
  /** The texts that have come since something might have begun. */
  readonly #texts = new Map<string, SecretText>();
  /** Those of them that may end with the beginning of a secret. */
  readonly #open = new Set<SecretText>();

  constructor(scrubber: Scrubber) {
    this.#scrubber = scrubber;
  }

  passes(events: string): boolean {
    return this.#open.size === 0 && !this.#scrubber.mayBegin(events);
  }

  push(events: readonly StreamEvent[]): readonly StreamEvent[] {
    for (const event of events) this.#add(event);
    const released = this.#held.release();
    // Whatever goes on later is seen to begin in its middle.
    if (this.#open.size === 0) this.#texts.clear();
    return released;
  }

  end(): readonly StreamEvent[] {
    for (const text of this.#open) text.end();
    this.#open.clear();
    return this.#held.release();
  }

  #add(event: StreamEvent): void {
    const { object } = event;
    if (object === undefined) return this.#held.add(event, []);
    const { parts } = event.reading;
    const pieces = parts.flatMap((part): HeldPiece[] => {
      const ranges = part.text === undefined ? this.#rangesOf(part, event.textOf(part)) : [];
      return ranges.length === 0 ? [] : [{ part, ranges }];
    });
    const inParts = new Set(parts.map(({ entry }) => entry));
    for (const [entry, text] of this.#scrubber.across(object, (entry) => inParts.has(entry)))
      event.change(entry, text);
    this.#held.add(event, pieces);
    if (this.#held.size > heldLimit) for (const text of this.#open) text.end();
  }

  /**
   * In its own text, joined with others of its kind (of further blocks, or of further parts), and with those of other
   * kinds: some clients show thoughts and texts one after the other.
   */
  #rangesOf({ channel, joinGroup }: StreamPart, piece: string): readonly HeldRange[] {
    if (piece === '') return [];
    const own = this.#addTo(channel, piece);
    if (joinGroup === undefined) return [own];
    const ofKind = this.#addTo(`${joinGroup}~${channel.replace(/\d+/g, '')}`, piece);
    return [own, ofKind, this.#addTo(`${joinGroup}~`, piece)];
  }

  #addTo(name: string, piece: string): HeldRange {
    let text = this.#texts.get(name);
    if (text === undefined) {
      text = new SecretText(this.#scrubber);
      this.#texts.set(name, text);
    }
    const range = text.add(piece);
    if (text.isOpen) this.#open.add(text);
    else this.#open.delete(text);
    return range;
  }
}

/** A text in which secrets are replaced, from some position on. */
class SecretText {
  readonly #text = new HeldText();
  readonly #scrubber: Scrubber;
  /** Length of its end that may be the beginning of a secret. */
  begun = 0;
  /** Up to where the last secret was found. */
  #found = 0;

  constructor(scrubber: Scrubber) {
    this.#scrubber = scrubber;
  }

  /** Whether what comes next may complete one. One character is not enough, but for the second one. */
  get isOpen(): boolean {
    return this.begun > 1 || (this.begun === 1 && this.#text.length === 1);
  }

  add(piece: string): HeldRange {
    const text = this.#text;
    const from = Math.max(this.#found, text.length - this.begun);
    const start = text.add(piece);
    const searched = text.slice(from, text.length);
    for (const found of this.#scrubber.secretsIn(searched, { isMiddle: from === 0 })) {
      const end = from + found.end;
      this.#found = Math.max(this.#found, end);
      text.change({ start: from + found.start, end, label: '[secret]' });
    }
    const rest = text.slice(Math.max(from, this.#found), text.length);
    this.begun = this.#scrubber.begunLength(rest, { isMiddle: this.#found === 0 && from === 0 });
    text.release(this.begun > maxSentLength ? text.length - this.begun : text.length);
    text.forget(text.length - this.begun, 1_024);
    return { text, start, end: text.length };
  }

  /** The text ends: most of a secret is as good as one. */
  end(): void {
    const text = this.#text;
    if (this.#scrubber.isMost(text.slice(text.length - this.begun, text.length)))
      text.change({ start: text.length - this.begun, end: text.length, label: '[secret]' });
    text.release(text.length);
  }
}
