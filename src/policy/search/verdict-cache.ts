import type { TextBytes } from './scanner.ts';
import type { TextVerdict } from './text-reader.ts';

interface Entry {
  /** Place of the copy in all bytes ever written; older ones have been overwritten. */
  readonly place: number;
  readonly length: number;
  readonly verdict: TextVerdict;
}

const smallestRoom = 1 << 16;
const wordBytes = 4;

/** Texts that are kept in mind by their hash are so many times fewer than the bytes of copies. */
const bytesPerHash = 512;

/**
 * Verdicts of long texts that come again, because much of a conversation does. A quick hash finds the
 * candidate, and its bytes are compared with a copy: no text can be made that is taken for another. Of a text that
 * is met for the first time only the hash is kept: copying it takes as long as reading it, and most never come again.
 *
 * Bounded by the bytes of the copies; the oldest are overwritten. A cache belongs to one compiled set and
 * goes with it.
 */
export class VerdictCache {
  /** Shorter texts are read again as quickly as they are found here. */
  readonly shortest = 128;
  readonly #limitBytes: number;
  /** Hashes of texts that were met; a later one may take the place of an earlier one. */
  readonly #met: Int32Array;
  readonly #entries = new Map<number, Entry>();
  #copies = Buffer.alloc(0);
  #written = 0;

  /** The limit is a power of two. */
  constructor({ limitBytes = 1 << 24 }: { limitBytes?: number } = {}) {
    this.#limitBytes = limitBytes;
    this.#met = new Int32Array(limitBytes / bytesPerHash);
  }

  /** What the other methods know a text by. */
  hash(text: TextBytes): number {
    return sample(text);
  }

  get(hash: number, text: TextBytes): TextVerdict | undefined {
    const entry = this.#entries.get(hash);
    if (entry === undefined || !this.#isSame(entry, text)) return undefined;
    return entry.verdict;
  }

  set(hash: number, text: TextBytes, verdict: TextVerdict): void {
    const { bytes, start, end } = text;
    const length = end - start;
    if (!this.#isMet(hash) || length > this.#limitBytes >> 3) return;
    const place = this.#reserve(length);
    this.#copies.set(bytes.subarray(start, end), place % this.#copies.length);
    // Entries whose copies are gone would pile up where no text takes their hash again.
    if (this.#entries.size > this.#limitBytes / this.shortest) this.#entries.clear();
    this.#entries.set(hash, { place, length, verdict });
  }

  #isMet(hash: number): boolean {
    const slot = hash & (this.#met.length - 1);
    const isMet = this.#met[slot] === hash;
    this.#met[slot] = hash;
    return isMet;
  }

  #isSame({ place, length }: Entry, text: TextBytes): boolean {
    if (length !== text.end - text.start) return false;
    if (this.#written - place > this.#copies.length) return false;
    const at = place % this.#copies.length;
    return this.#copies.compare(text.bytes, text.start, text.end, at, at + length) === 0;
  }

  /** Room for a copy in one piece; what doesn't fit before the end begins again at the front. */
  #reserve(length: number): number {
    const used = this.#copies.length;
    if (this.#written + length > used && used < this.#limitBytes) this.#grow(length);
    const left = this.#copies.length - (this.#written % this.#copies.length);
    const place = left < length ? this.#written + left : this.#written;
    this.#written = place + length;
    return place;
  }

  /** Until the limit nothing has been overwritten, so copies keep their places. */
  #grow(length: number): void {
    let room = Math.max(smallestRoom, this.#copies.length);
    while (room < this.#written + length && room < this.#limitBytes) room *= 2;
    const larger = Buffer.alloc(Math.min(room, this.#limitBytes));
    larger.set(this.#copies);
    this.#copies = larger;
  }
}

const samples = 9;

/** A hash of the length and of some words: enough to find a text, not to vouch for it. */
function sample({ words, start, end }: TextBytes): number {
  const step = Math.floor((end - start - wordBytes) / (samples - 1));
  let hash = end - start;
  for (let count = 0, at = start; count < samples; count += 1, at += step) {
    hash = Math.imul(hash ^ words.getInt32(at, true), 0x01000193);
  }
  // Texts that are nearly the same mostly differ where they begin or end.
  hash = Math.imul(hash ^ words.getInt32(start + wordBytes, true), 0x01000193);
  hash = Math.imul(hash ^ words.getInt32(end - wordBytes * 2, true), 0x01000193);
  hash = Math.imul(hash ^ words.getInt32(end - wordBytes, true), 0x01000193);
  return hash ^ (hash >>> 15);
}
