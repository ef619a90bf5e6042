import type { JsonDocument } from '../../json/json-document.ts';
import { mayHideTexts } from '../traverse/nested.ts';
import type { StreamEvent } from './stream-event.ts';
import type { StreamPart } from './stream-parts.ts';

const plainString = /^(?:[^"\\\p{Cc}]|\\["\\/bfnrt])*$/u;
/** What most texts begin with, and none that contains others. */
const prose = /^ ?[a-ce-z]/i;
/** What other texts that contain texts begin with: a number with an exponent, a data URL. */
const mayHide = /^[\s\p{C}]*(?:[-\d][^e]*e|d\s*a\s*t\s*a)/iu;

/**
 * An event of which only one text changes. Streams repeat such events thousands of times; what stands around the text was
 * read once, strictly, and nothing was found in it. The text is any JSON string, so that the rest means the same.
 */
export class EventFrame {
  readonly part: StreamPart;
  readonly #name: string | undefined;
  readonly #before: string;
  readonly #after: string;

  constructor({ name }: StreamEvent, document: JsonDocument, part: StreamPart) {
    this.part = part;
    this.#name = name;
    this.#before = document.bytes.toString('utf8', 0, document.start(part.entry));
    this.#after = document.bytes.toString('utf8', document.end(part.entry));
  }

  /** The text in an event that is the same otherwise; undefined if it is another event, or must be looked at closely. */
  textOf({ name, data }: StreamEvent): string | undefined {
    const length = data.length - this.#before.length - this.#after.length;
    if (name !== this.#name || length < 0) return undefined;
    if (!data.startsWith(this.#before) || !data.endsWith(this.#after)) return undefined;
    const raw = data.slice(this.#before.length, this.#before.length + length);
    if (!plainString.test(raw)) return undefined;
    const text = raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
    return !prose.test(text) && (mayHideTexts(text) || mayHide.test(text)) ? undefined : text;
  }

  /** The event's data with another text. */
  with(text: string): string {
    return this.#before + JSON.stringify(text).slice(1, -1) + this.#after;
  }
}
