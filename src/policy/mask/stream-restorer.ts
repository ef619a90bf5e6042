import type { StreamPart } from '../../dialects/stream-parts.ts';
import type { Stage } from '../streams/stage.ts';
import { HeldEvents, type HeldPiece, type StreamEvent } from '../streams/stream-event.ts';
import { PlaceholderText } from './placeholder-text.ts';
import type { Restorer } from './restorer.ts';

/** How many pieces of other texts may come before a text that may end in a placeholder is sent as it is. */
const patience = 16;
/** Maximum characters of events that are held back. */
const heldLimit = 65_536;

/** What a provider signed or may yet sign, which summaries never are, and what repeats a text letter by letter. */
const untouched = /\.(?:thinking|thinking_blocks|logprobs)\.|\.reasoning_details\.(?!\d*\.summary\.)/;

/**
 * Restores the values in the events of a stream, in any dialect: those of whole texts, and of texts whose pieces the
 * client puts together. Events leave in order, each at once unless a text in it may end with the beginning of a
 * placeholder.
 */
export class StreamRestorer implements Stage {
  readonly #restorer: Restorer;
  readonly #held = new HeldEvents();
  readonly #texts = new Map<string, PlaceholderText>();
  /** The channels of these texts, by the first part of their names, with its dot. */
  readonly #channels = new Map<string, Set<string>>();
  /** The texts that wait for their next piece, the first for the longest time: the number of the last one. */
  readonly #waiting = new Map<string, number>();
  /** How many pieces have come. */
  #pieces = 0;
  /** What the last events are apart from their texts, if it has nothing of a placeholder. */
  #checked: unknown;

  constructor(restorer: Restorer) {
    this.#restorer = restorer;
  }

  passes(events: string): boolean {
    if (!this.#held.isEmpty || this.#restorer.needsDepth) return false;
    return !this.#restorer.mayBegin(events);
  }

  push(events: readonly StreamEvent[]): readonly StreamEvent[] {
    for (const event of events) this.#add(event);
    return this.#held.release();
  }

  end(): readonly StreamEvent[] {
    this.#endAll('');
    return this.#held.release();
  }

  #add(event: StreamEvent): void {
    const { object } = event;
    if (object === undefined) {
      this.#held.add(event, []);
      if (event.reading.ends.length > 0) this.#endAll('');
      return;
    }
    const { parts, ends, frame } = event.reading;
    const pieces: HeldPiece[] = [];
    for (const part of parts) {
      if (isRestored(part)) pieces.push({ part, ranges: [this.#addPiece(part.channel, event.textOf(part))] });
    }
    if (frame === undefined || frame !== this.#checked) this.#restoreWholeTexts(event);
    this.#held.add(event, pieces);
    for (const end of ends) this.#endAll(end);
    if (this.#held.size > heldLimit) this.#endAll('');
  }

  #restoreWholeTexts(event: StreamEvent): void {
    const { parts, frame } = event.reading;
    const { object } = event;
    this.#checked = frame;
    if (object === undefined || !this.#restorer.mayHold(object.bytes)) return;
    const isPart = new Set(parts.map(({ entry }) => entry));
    const texts = this.#restorer.texts(object, (entry) => isPart.has(entry));
    for (const [entry, text] of texts) event.change(entry, text);
    if (texts.size > 0) this.#checked = undefined;
  }

  #addPiece(channel: string, piece: string) {
    let text = this.#texts.get(channel);
    if (text === undefined) {
      text = new PlaceholderText(this.#restorer);
      this.#texts.set(channel, text);
      const beginning = channel.slice(0, channel.indexOf('.') + 1);
      const same = this.#channels.get(beginning);
      if (same === undefined) this.#channels.set(beginning, new Set([channel]));
      else same.add(channel);
    }
    const range = text.add(piece);
    this.#pieces += 1;
    this.#waiting.delete(channel);
    if (text.isOpen) this.#waiting.set(channel, this.#pieces);
    for (const [other, since] of this.#waiting) {
      if (this.#pieces - since <= patience) break;
      this.#texts.get(other)?.end();
      this.#waiting.delete(other);
    }
    return range;
  }

  /** Ends the texts whose channels begin with the first part of a name; all of them if it is empty. */
  #endAll(prefix: string): void {
    for (const beginning of prefix === '' ? [...this.#channels.keys()] : [prefix]) {
      for (const channel of this.#channels.get(beginning) ?? []) {
        this.#texts.get(channel)?.end();
        this.#texts.delete(channel);
        this.#waiting.delete(channel);
      }
      this.#channels.delete(beginning);
    }
  }
}

function isRestored({ channel, isFixed }: StreamPart): boolean {
  return isFixed !== true && !untouched.test(`.${channel}`);
}
