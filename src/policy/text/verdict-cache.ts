import type { TextVerdict } from './reader.ts';
import type { TextBytes } from './scanner.ts';

interface Entry {
  /** Place of the copy in all bytes ever written; older ones have been overwritten. */
  readonly place: number;
  readonly length: number;
  readonly verdict: TextVerdict;
}

const smallestRoom = 1 << 16;

/**
 * Verdicts of long texts, because most of a conversation is sent again with every turn. A quick hash finds
 * the candidate, and its bytes are compared with a copy: no text can be made that is taken for another.
 *
 * Bounded by the bytes of the copies; the oldest are overwritten. A cache belongs to one compiled set and
 * goes with it.
 */
export class VerdictCache {
  /** Shorter texts are read again as quickly as they are found here. */
  readonly shortest: number;
  readonly #limitBytes: number;
  readonly #entries = new Map<number, Entry>();
  #copies = Buffer.alloc(0);
  #written = 0;

  constructor({ shortest = 128, limitBytes = 1 << 24 }: { shortest?: number; limitBytes?: number } = {}) {
    this.shortest = shortest;
    this.#limitBytes = limitBytes;
  }

  get(text: TextBytes): TextVerdict | undefined {
    const entry = this.#entries.get(sample(text));
    if (entry === undefined || !this.#isSame(entry, text)) return undefined;
    return entry.verdict;
  }

  set(text: TextBytes, verdict: TextVerdict): void {
    const { bytes, start, end } = text;
    const length = end - start;
    if (length > this.#limitBytes >> 3) return;
    const place = this.#reserve(length);
    this.#copies.set(bytes.subarray(start, end), place % this.#copies.length);
    // Entries whose copies are gone would pile up where no text takes their hash again.
    if (this.#entries.size > this.#limitBytes / this.shortest) this.#entries.clear();
    this.#entries.set(sample(text), { place, length, verdict });
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

const samples = 16;

/** A hash of the length and of some bytes: enough to find a text, not to vouch for it. */
function sample({ bytes, start, end }: TextBytes): number {
  const length = end - start;
  const step = Math.max(1, Math.floor(length / samples));
  let hash = length;
  for (let at = start; at < end; at += step) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
  for (let at = Math.max(start, end - 8); at < end; at += 1) {
    hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
  }
  return hash;
}
