import { HeldText } from '../../dialects/held-text.ts';
import { JsonDepth } from '../../json/json-progress.ts';
import type { HeldRange } from '../streams/stream-event.ts';
import { findPlaceholders } from './placeholder-patterns.ts';
import type { Restorer } from './restorer.ts';

/**
 * A text that comes in pieces, with values for its placeholders: a piece may leave as soon as nothing in it can be part of
 * a placeholder that is not complete. A value goes where its placeholder begins.
 */
export class PlaceholderText {
  readonly #text = new HeldText();
  readonly #restorer: Restorer;
  readonly #depth: JsonDepth | undefined;
  /** Up to where it was searched, and followed. */
  #read = 0;
  /** Up to where broken placeholders were looked for. */
  #noted = 0;

  constructor(restorer: Restorer) {
    this.#restorer = restorer;
    this.#depth = restorer.needsDepth ? new JsonDepth() : undefined;
  }

  /** Whether it ends with what may be the beginning of a placeholder. */
  get isOpen(): boolean {
    return this.#text.limit < this.#text.length;
  }

  add(piece: string): HeldRange {
    const text = this.#text;
    const start = text.add(piece);
    this.#search();
    const { beginning, maxLength } = this.#restorer.patterns;
    const from = Math.max(this.#read, text.length - maxLength + 1);
    const begun = beginning.exec(text.slice(from, text.length));
    this.#release(begun === null ? text.length : from + begun.index);
    return { text, start, end: text.length };
  }

  /** The text ends, so what has only begun is no placeholder. */
  end(): void {
    this.#release(this.#text.length);
    this.#noteBroken(this.#text.length);
  }

  /** Finds the placeholders that are complete. */
  #search(): void {
    const { from, rest } = this.#text;
    findPlaceholders(this.#restorer.patterns, { text: rest, from: this.#read - from }, (found, at) => {
      const start = from + at;
      this.#follow(start);
      const value = this.#restorer.value(found, this.#depth?.depth ?? 0);
      if (value === undefined) return false;
      this.#read = start + found.length;
      this.#text.change({ start, end: this.#read, label: value });
      return true;
    });
  }

  #follow(end: number): void {
    this.#depth?.add(this.#text.slice(this.#read, end));
    this.#read = Math.max(this.#read, end);
  }

  #release(limit: number): void {
    this.#follow(limit);
    this.#text.release(limit);
    // Not before it is known how the text goes on, and not within what may be one.
    const settled = this.#text.slice(this.#noted, limit);
    const keep = Math.max(0, settled.length - this.#restorer.patterns.maxLength - 4);
    const cut = keep + (/^\S*/.exec(settled.slice(keep))?.[0].length ?? 0);
    if (cut < settled.length && cut > 0) this.#noteBroken(this.#noted + cut);
    else if (settled.length > maxNoted) this.#noted = limit - maxNoted;
    this.#text.forget(Math.min(this.#noted, this.#read), maxNoted);
  }

  #noteBroken(end: number): void {
    this.#restorer.noteBroken(this.#text.slice(this.#noted, end));
    this.#noted = end;
  }
}

/** Maximum characters that are kept for the rest of a placeholder. */
const maxNoted = 256;
