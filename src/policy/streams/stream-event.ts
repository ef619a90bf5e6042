import type { HeldText, TextChange } from '../../dialects/held-text.ts';
import { formatSse, pingComment, type SseEvent } from '../../dialects/sse.ts';
import { PartReader, type StreamPart } from '../../dialects/stream-parts.ts';
import { replaceTexts } from '../../json/byte-edits.ts';
import type { JsonDocument } from '../../json/json-document.ts';
import { applyReplacements } from '../redact/redact.ts';
import { type AnswerText, readAnswerText, readPlain } from './answer-text.ts';

/** What an event is, read once for all stages. */
interface ReadEvent {
  /** Undefined for what begins like an object but is not strict JSON: clients read it in different ways. */
  readonly source: AnswerText | undefined;
  readonly isObject: boolean;
  /** The pieces of texts in it. */
  readonly parts: readonly StreamPart[];
  /** The channels, by prefix, that end with it. */
  readonly ends: readonly string[];
  /** What is around its only text, if it has one. */
  readonly frame: Frame | undefined;
}

const pingBytes = Buffer.from(formatSse(pingComment.name, pingComment.data));
const ping = /^\s*\{\s*"type"\s*:\s*"ping"\s*\}\s*$/;

/** An event on its way to the client: split and parsed once, whoever reads it or changes its texts. */
export class StreamEvent {
  readonly name: string | undefined;
  readonly data: string;
  /** Clients skip one without: comments, and other fields. */
  readonly hasData: boolean;
  readonly #reader: EventReader;
  /** The event as it came, as long as nothing in it changes. */
  #bytes: Buffer | undefined;
  #reading: ReadEvent | undefined;
  /** The only text, in an event that is the same as one before otherwise. */
  #text: string | undefined;
  #changes: Map<number, string> | undefined;

  constructor(reader: EventReader, { name, data }: Partial<SseEvent>, bytes?: Buffer) {
    this.#reader = reader;
    this.name = name;
    this.data = data ?? '';
    this.hasData = data !== undefined;
    this.#bytes = bytes;
  }

  static withoutData(reader: EventReader, bytes: Buffer): StreamEvent {
    return new StreamEvent(reader, {}, bytes);
  }

  /** Reads it now, unless it has been read: events must be read in their order. */
  get reading(): ReadEvent {
    if (this.#reading !== undefined) return this.#reading;
    const last = this.#reader.last;
    this.#text = last?.frame?.textIn(this);
    this.#reading = last === undefined || this.#text === undefined ? this.#reader.read(this) : last;
    return this.#reading;
  }

  /** Whether it says only that the answer is still being made: a comment, or a ping. */
  get isSignOfLife(): boolean {
    return !this.hasData || (this.name === 'ping' && ping.test(this.data));
  }

  /** The same for this event alone, where its only text must be seen in its document. */
  readAlone(): ReadEvent {
    const { reading } = this;
    if (this.#text === undefined) return reading;
    this.#text = undefined;
    this.#reading = this.#reader.read(this);
    return this.#reading;
  }

  /** Its document, if its data is one JSON object. */
  get object(): JsonDocument | undefined {
    const { isObject, source } = this.reading;
    return isObject ? source?.document : undefined;
  }

  /** The text of a part of it, as the stages before have left it. */
  textOf({ entry, text }: StreamPart): string {
    const changed = this.#changes?.get(entry);
    if (changed !== undefined) return changed;
    const { source } = this.reading;
    return text ?? this.#text ?? source?.document.text(entry) ?? '';
  }

  change(entry: number, text: string): void {
    this.#changes ??= new Map();
    this.#changes.set(entry, text);
  }

  /** Where it can't be read strictly: its data is one text in any case. */
  readLiterally(): AnswerText {
    const source = readPlain(this.data);
    this.#reading = { source, isObject: false, parts: [], ends: [], frame: undefined };
    return source;
  }

  /** A comment without its words, for an event without data. */
  get plain(): StreamEvent {
    return StreamEvent.withoutData(this.#reader, pingBytes);
  }

  /** Leaves nothing but its name and its data: no comments, and no unused fields. */
  strip(): void {
    this.#bytes = undefined;
  }

  /** Its data, with its changes. */
  get written(): string {
    const changes = this.#changes;
    if (changes === undefined) return this.data;
    const { source, frame } = this.reading;
    const [only] = changes;
    if (frame !== undefined && changes.size === 1 && only?.[0] === frame.part.entry)
      return frame.around(only[1]);
    if (source === undefined) return this.data;
    // The document may be that of an event before, with another text.
    const texts =
      frame !== undefined && this.#text !== undefined
        ? new Map([[frame.part.entry, this.#text], ...changes])
        : changes;
    return source.unwrap(replaceTexts(source.document, texts)).toString('utf8');
  }

  toBytes(): Buffer {
    if (this.#bytes !== undefined && this.#changes === undefined) return this.#bytes;
    return Buffer.from(formatSse(this.name, this.written));
  }
}

/** Reads the events of one stream; most of them differ from the one before in a piece of text only. */
export class EventReader {
  readonly #parts = new PartReader();
  /** What was read last, if the next event may differ from it in its only text. */
  last: ReadEvent | undefined;

  read(event: SseEvent): ReadEvent {
    const source = readAnswerText(Buffer.from(event.data));
    const isDone = event.data.trim() === '[DONE]';
    const { parts, ends } =
      source === undefined || isDone
        ? { parts: [], ends: isDone ? [''] : [] }
        : this.#parts.read(source.document, event.name);
    const [only] = parts;
    const isPlain =
      only !== undefined &&
      parts.length === 1 &&
      ends.length === 0 &&
      !only.isFixed &&
      only.text === undefined;
    const frame = isPlain && source !== undefined ? new Frame(event, source.document, only) : undefined;
    const isObject = source !== undefined && event.data.trimStart().startsWith('{');
    const reading = { source, isObject, parts, ends, frame };
    this.last = frame === undefined ? undefined : reading;
    return reading;
  }
}

const plainString = /^(?:[^"\\\p{Cc}]|\\["\\/bfnrt])*$/u;

/**
 * What is around the only text of an event. Streams repeat such events thousands of times; the rest was read once,
 * strictly. The text is any JSON string, so that the rest means the same.
 */
class Frame {
  readonly part: StreamPart;
  readonly #name: string | undefined;
  readonly #before: string;
  readonly #after: string;

  constructor({ name }: SseEvent, document: JsonDocument, part: StreamPart) {
    this.part = part;
    this.#name = name;
    this.#before = document.bytes.toString('utf8', 0, document.start(part.entry));
    this.#after = document.bytes.toString('utf8', document.end(part.entry));
  }

  /** The text in an event that is the same otherwise; undefined if it is another event, or must be looked at closely. */
  textIn({ name, data }: SseEvent): string | undefined {
    const length = data.length - this.#before.length - this.#after.length;
    if (name !== this.#name || length < 0) return undefined;
    if (!data.startsWith(this.#before) || !data.endsWith(this.#after)) return undefined;
    const raw = data.slice(this.#before.length, this.#before.length + length);
    if (!plainString.test(raw)) return undefined;
    return raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
  }

  around(text: string): string {
    return this.#before + JSON.stringify(text).slice(1, -1) + this.#after;
  }
}

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
