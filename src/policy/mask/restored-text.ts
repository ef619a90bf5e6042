import type { Range } from '../detectors/detector.ts';
import { applyReplacements } from '../redact/redact.ts';
import { JsonDepth } from './json-depth.ts';
import { findPlaceholders } from './placeholder-patterns.ts';
import type { Restorer } from './restorer.ts';

/** One piece of a text; once it is settled, what the client gets of it. */
export interface TextPiece {
  readonly text: string;
  settled: string | undefined;
}

interface OpenPiece {
  readonly piece: TextPiece;
  /** Where it begins in the open text. */
  readonly start: number;
}

interface Restored extends Range {
  readonly value: string;
}

/**
 * A text that comes in pieces. A piece is settled as soon as nothing in it can be part of a placeholder that is not
 * complete; a value goes where its placeholder begins.
 */
export class RestoredText {
  readonly #restorer: Restorer;
  readonly #depth: JsonDepth | undefined;
  /** The pieces that are not settled, as one text. */
  #open = '';
  #pieces: OpenPiece[] = [];
  #restored: Restored[] = [];
  /** Up to where the open text was searched, and followed. */
  #read = 0;
  /** The end of what is settled: a broken placeholder may begin there. */
  #before = '';

  constructor(restorer: Restorer) {
    this.#restorer = restorer;
    this.#depth = restorer.needsDepth ? new JsonDepth() : undefined;
  }

  get isOpen(): boolean {
    return this.#pieces.length > 0;
  }

  add(piece: TextPiece): void {
    this.#pieces.push({ piece, start: this.#open.length });
    this.#open += piece.text;
    this.#search();
    const { beginning, longest } = this.#restorer.patterns;
    const from = Math.max(this.#read, this.#open.length - longest + 1);
    const begun = beginning.exec(from === 0 ? this.#open : this.#open.slice(from));
    this.#settle(begun === null ? this.#open.length : from + begun.index);
  }

  /** The text ends, so what has only begun is no placeholder. */
  end(): void {
    this.#settle(this.#open.length);
    this.#restorer.noteBroken(this.#before);
    this.#before = '';
  }

  /** Finds the placeholders that are complete. */
  #search(): void {
    const text = { text: this.#open, from: this.#read };
    findPlaceholders(this.#restorer.patterns, text, (found, start) => {
      this.#depth?.add(this.#open.slice(this.#read, start));
      this.#read = start;
      const value = this.#restorer.value(found, this.#depth?.depth ?? 0);
      if (value === undefined) return false;
      this.#read = start + found.length;
      this.#restored.push({ start, end: this.#read, value });
      return true;
    });
  }

  /** Settles the pieces that end no later than there. */
  #settle(end: number): void {
    this.#depth?.add(this.#open.slice(this.#read, end));
    this.#read = Math.max(this.#read, end);
    let count = 0;
    for (const { piece, start } of this.#pieces) {
      const pieceEnd = start + piece.text.length;
      if (pieceEnd > end) break;
      piece.settled = this.#textOf(start, pieceEnd);
      count += 1;
    }
    if (count === 0) return;
    const rest = this.#pieces[count]?.start ?? this.#open.length;
    this.#noteBroken(this.#open.slice(0, rest));
    this.#open = this.#open.slice(rest);
    this.#read = Math.max(0, this.#read - rest);
    this.#pieces = this.#pieces.slice(count).map(({ piece, start }) => ({ piece, start: start - rest }));
    this.#restored = this.#restored
      .filter((each) => each.end > rest)
      .map((each) => ({ ...each, start: each.start - rest, end: each.end - rest }));
  }

  #textOf(start: number, end: number): string {
    const within = this.#restored.filter((each) => each.end > start && each.start < end);
    const replacements = within.map((each) => ({
      start: Math.max(each.start, start) - start,
      end: Math.min(each.end, end) - start,
      label: each.start >= start ? each.value : '',
    }));
    return applyReplacements(this.#open.slice(start, end), replacements);
  }

  /** Looks at a text no sooner than it is known how it goes on. */
  #noteBroken(settled: string): void {
    const text = this.#before + settled;
    const keep = Math.max(0, text.length - this.#restorer.patterns.longest - 4);
    // Not within what may be one.
    const cut = keep + (/^\S*/.exec(text.slice(keep))?.[0].length ?? 0);
    if (cut < text.length && cut > 0) {
      this.#restorer.noteBroken(text.slice(0, cut));
      this.#before = text.slice(cut);
    } else this.#before = text;
    if (this.#before.length > 256) this.#before = this.#before.slice(-256);
  }
}
