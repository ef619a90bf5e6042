import type { JsonDocument } from '../../json/json-document.ts';
import { parseStrictJson } from '../../json/strict-json.ts';
import { readParts, type StreamPart } from '../answers/stream-parts.ts';
import { splice } from '../redact/redact.ts';
import { RestoredText, type TextPiece } from './restored-text.ts';
import type { Restorer } from './restorer.ts';

/** How many pieces of other texts may come before a text that may end in a placeholder is sent as it is. */
const patience = 16;
/** Most bytes of events that are held back. */
const heldLimit = 65_536;

/** An event of a stream, as its stage passes it on. */
export interface PassingEvent {
  readonly name: string | undefined;
  readonly data: Buffer;
}

/** An event that may leave, and its data with the values restored if they differ. */
export interface RestoredEvent<Event> {
  readonly event: Event;
  readonly data?: Buffer;
}

interface Held<Event> {
  readonly event: Event;
  /** The texts that go on in other events, by entry. */
  readonly pieces: ReadonlyMap<number, TextPiece>;
  /** Other texts that change. */
  readonly texts: Map<number, string>;
  /** The event's data with these texts. */
  readonly rewrite: (texts: ReadonlyMap<number, string>) => Buffer;
}

/** What a provider signed or may yet sign, which summaries never are, and what repeats a text letter by letter. */
const untouched = /\.(?:thinking|thinking_blocks|logprobs)\.|\.reasoning_details\.(?!\d*\.summary\.)/;

/**
 * Restores the values in the events of a stream, in any dialect: those of whole texts, and of texts whose pieces the
 * client puts together. Events leave in order, each at once unless a text in it may end with the beginning of a
 * placeholder.
 */
export class StreamRestorer<Event extends PassingEvent> {
  readonly #restorer: Restorer;
  readonly #texts = new Map<string, RestoredText>();
  /** Since when each open text waits, in pieces of others. */
  readonly #waiting = new Map<string, number>();
  #last: Frame | undefined;
  #held: Held<Event>[] = [];
  #heldBytes = 0;

  constructor(restorer: Restorer) {
    this.#restorer = restorer;
  }

  /** Whether events may pass unread: no text waits, and none of theirs has anything of a placeholder. */
  passes(events: Buffer): boolean {
    if (this.#held.length > 0 || this.#restorer.needsDepth) return false;
    return !this.#restorer.mayBegin(events);
  }

  push(event: Event): readonly RestoredEvent<Event>[] {
    this.#held.push(this.#readLike(event) ?? this.#read(event));
    this.#heldBytes += event.data.length;
    if (this.#heldBytes > heldLimit) this.#endAll('');
    return this.#release();
  }

  /** The stream is over. */
  end(): readonly RestoredEvent<Event>[] {
    this.#endAll('');
    return this.#release();
  }

  /** An event that differs from one before in a plain piece of text only, as most do: it need not be parsed. */
  #readLike(event: Event): Held<Event> | undefined {
    const frame = this.#last;
    const text = frame === undefined || frame.name !== event.name ? undefined : frame.textIn(event.data);
    if (frame === undefined || text === undefined) return undefined;
    const pieces = new Map([[0, this.#add(frame.channel, text)]]);
    return { event, pieces, texts: new Map(), rewrite: (texts) => frame.around(texts.get(0) ?? text) };
  }

  #read(event: Event): Held<Event> {
    const document = parse(event.data);
    if (document === undefined)
      return { event, pieces: new Map(), texts: new Map(), rewrite: () => event.data };
    const { parts, ends } = readParts(document, event.name);
    const pieces = new Map<number, TextPiece>();
    const others = new Set<number>();
    for (const part of parts) {
      if (part.isFixed || untouched.test(`.${part.channel}`)) others.add(part.entry);
      else pieces.set(part.entry, this.#add(part.channel, document.text(part.entry)));
    }
    const isElsewhere = (entry: number) => pieces.has(entry) || others.has(entry);
    const texts = this.#restorer.mayHold(event.data)
      ? this.#restorer.texts(document, isElsewhere)
      : new Map<number, string>();
    for (const end of ends) this.#endAll(end);
    const [only] = parts;
    if (
      only !== undefined &&
      parts.length === 1 &&
      pieces.size === 1 &&
      ends.length === 0 &&
      texts.size === 0
    )
      this.#last = new Frame(event, document, only);
    return { event, pieces, texts, rewrite: (changed) => splice(document, changed) };
  }

  #add(channel: string, text: string): TextPiece {
    const piece: TextPiece = { text, settled: undefined };
    let restored = this.#texts.get(channel);
    if (restored === undefined) {
      restored = new RestoredText(this.#restorer);
      this.#texts.set(channel, restored);
    }
    restored.add(piece);
    if (this.#waiting.size > 0) this.#noteOther(channel);
    if (restored.isOpen) this.#waiting.set(channel, 0);
    return piece;
  }

  /** A piece of a text came, while others wait for theirs. */
  #noteOther(channel: string): void {
    this.#waiting.delete(channel);
    for (const [other, count] of this.#waiting) {
      if (count < patience) this.#waiting.set(other, count + 1);
      else this.#end(other);
    }
  }

  #endAll(prefix: string): void {
    for (const channel of this.#texts.keys()) if (channel.startsWith(prefix)) this.#end(channel);
  }

  #end(channel: string): void {
    this.#texts.get(channel)?.end();
    this.#waiting.delete(channel);
  }

  #release(): readonly RestoredEvent<Event>[] {
    const released: RestoredEvent<Event>[] = [];
    for (const { event, pieces, texts, rewrite } of this.#held) {
      if (this.#waiting.size > 0 && !isSettled(pieces)) break;
      for (const [entry, { text, settled = text }] of pieces) if (settled !== text) texts.set(entry, settled);
      released.push(texts.size > 0 ? { event, data: rewrite(texts) } : { event });
      this.#heldBytes -= event.data.length;
    }
    this.#held = released.length === this.#held.length ? [] : this.#held.slice(released.length);
    return released;
  }
}

function isSettled(pieces: ReadonlyMap<number, TextPiece>): boolean {
  for (const { settled } of pieces.values()) if (settled === undefined) return false;
  return true;
}

/** What is around the only text of an event. */
class Frame {
  readonly name: string | undefined;
  readonly channel: string;
  readonly #before: Buffer;
  readonly #after: Buffer;

  constructor({ name, data }: PassingEvent, document: JsonDocument, { channel, entry }: StreamPart) {
    this.name = name;
    this.channel = channel;
    this.#before = data.subarray(0, document.start(entry));
    this.#after = data.subarray(document.end(entry));
  }

  /** The text of an event with nothing else around it; undefined if there is, and if the text has escapes. */
  textIn(data: Buffer): string | undefined {
    const end = data.length - this.#after.length;
    const start = this.#before.length;
    if (end < start || this.#before.compare(data, 0, start) !== 0 || this.#after.compare(data, end) !== 0)
      return undefined;
    const text = data.toString('latin1', start, end);
    return plainText.test(text) ? text : undefined;
  }

  around(text: string): Buffer {
    return Buffer.concat([this.#before, Buffer.from(JSON.stringify(text).slice(1, -1)), this.#after]);
  }
}

/** ASCII that stands in JSON as it is. */
const plainText = /^[ !#-[\]-~]*$/;

/** Undefined for `[DONE]`, and for what is not one JSON object: clients get it as it is. */
function parse(data: Buffer): JsonDocument | undefined {
  try {
    return data[0] === 0x7b ? parseStrictJson(data) : undefined;
  } catch {
    return undefined;
  }
}
