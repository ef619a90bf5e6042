import type { JsonDocument } from './json-document.ts';

/** Bytes of the longest text that is memoized. */
export const longestShort = 16;
const wordsPerText = longestShort / 4;
const slotCount = 512;

/**
 * Memoizes what was found in short texts, by their raw JSON bytes. Most texts of a body are keys, types and roles, the
 * same few in every block, and a lookup takes a fraction of the time of reading one. There is a fixed number of slots,
 * and a text may evict another; bytes are compared, not hashes.
 */
export class ShortTexts<Known> {
  readonly #words = new Int32Array(slotCount * wordsPerText);
  readonly #lengths = new Uint8Array(slotCount);
  readonly #known: (Known | undefined)[] = Array.from({ length: slotCount }, () => undefined);
  readonly #text = new Int32Array(wordsPerText);
  #slot = 0;

  /** The memoized value for a text of 1 to `longestShort` bytes. */
  get(document: JsonDocument, entry: number): Known | undefined {
    const start = document.start(entry);
    const length = document.end(entry) - start;
    const slot = this.#read(document, start, length);
    this.#slot = slot;
    if (this.#lengths[slot] !== length) return undefined;
    const first = slot * wordsPerText;
    for (let at = 0; at * 4 < length; at += 1) {
      if (this.#words[first + at] !== this.#text[at]) return undefined;
    }
    return this.#known[slot];
  }

  /** Memoizes a value for the text that was last looked up. */
  keep(document: JsonDocument, entry: number, known: Known): Known {
    const slot = this.#slot;
    this.#lengths[slot] = document.end(entry) - document.start(entry);
    this.#words.set(this.#text, slot * wordsPerText);
    this.#known[slot] = known;
    return known;
  }

  /** Loads a text into words; returns its slot. */
  #read({ bytes, words }: JsonDocument, start: number, length: number): number {
    const text = this.#text;
    const isInWords = start + longestShort <= words.byteLength;
    let hash = length;
    for (let at = 0; at < length; at += 4) {
      const left = length - at;
      const value = isInWords ? words.getInt32(start + at, true) : wordAt(bytes, start + at, left);
      const word = left < 4 ? value & ((1 << (left * 8)) - 1) : value;
      text[at >> 2] = word;
      hash = Math.imul(hash ^ word, 0x9e3779b1);
    }
    return (hash ^ (hash >>> 15)) & (slotCount - 1);
  }
}

/** Four bytes, or as many as are left, as a word. */
function wordAt(bytes: Uint8Array, start: number, left: number): number {
  let word = 0;
  for (let at = Math.min(4, left) - 1; at >= 0; at -= 1) word = (word << 8) | (bytes[start + at] as number);
  return word;
}
