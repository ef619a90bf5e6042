import type { DigitNeedle } from './machine.ts';

const space = 0x20;
const backslash = 0x5c;
const ring = 64;

/**
 * Tells which detectors of numbers are worth running on a text: those for which enough digits stand close
 * together. It counts generously (white space, escapes and wide characters as no distance at all), because
 * the folded view may drop them.
 */
export class DigitWatch {
  readonly #needles: readonly DigitNeedle[];
  readonly #reach: number;
  /** Distance of each of the last digits from the beginning, in characters that count. */
  readonly #places = new Int32Array(ring);
  readonly #fired: Uint8Array;
  #bytes: Uint8Array = new Uint8Array(0);
  #count = 0;
  #distance = 0;
  #last = 0;
  #open = 0;

  constructor(needles: readonly DigitNeedle[]) {
    this.#needles = needles.map((each) => ({ ...each, atLeast: Math.min(each.atLeast, ring) }));
    this.#reach = Math.max(0, ...needles.map((each) => each.within));
    this.#fired = new Uint8Array(needles.length);
  }

  begin(bytes: Uint8Array, start: number): void {
    this.#bytes = bytes;
    this.#count = 0;
    this.#distance = 0;
    this.#last = start;
    this.#open = this.#needles.length;
    this.#fired.fill(0);
  }

  /** A digit that ends before this place. */
  digit(at: number): void {
    if (this.#open === 0) return;
    this.#distance += this.#solid(this.#last, at);
    this.#last = at;
    this.#places[this.#count % ring] = this.#distance;
    this.#count += 1;
    for (let each = 0; each < this.#needles.length; each += 1) {
      const { atLeast, within } = this.#needles[each] as DigitNeedle;
      if (this.#fired[each] === 1 || this.#count < atLeast) continue;
      const first = this.#places[(this.#count - atLeast) % ring] as number;
      if (this.#distance - first > within) continue;
      this.#fired[each] = 1;
      this.#open -= 1;
    }
  }

  /** The needles that are worth a look, after the text. */
  fired(): readonly number[] {
    if (this.#open === this.#needles.length) return none;
    return this.#needles.filter((_each, at) => this.#fired[at] === 1).map((each) => each.needle);
  }

  /** How many characters at least the folded view has between two places; beyond the reach it hardly matters. */
  #solid(from: number, to: number): number {
    if (to - from <= 1) return to - from;
    let count = 0;
    for (let at = from; at < to && count <= this.#reach; at += 1) {
      const byte = this.#bytes[at] as number;
      if (byte === backslash) at += this.#bytes[at + 1] === 0x75 ? 5 : 1;
      else if (byte > space && byte < 0x7f) count += 1;
    }
    return count;
  }
}

const none: readonly number[] = [];
