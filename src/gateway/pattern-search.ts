import type { Range } from '../policy/detectors/detector.ts';

/**
 * Searches bytes for several patterns at once (Wu and Manber, 1994): a table indexed by two bytes gives the distance to the
 * next place where any pattern can end, so most of the text is never read, and the number of patterns hardly matters.
 * Patterns have at least two bytes; the shortest one limits how far the search can skip.
 */
export class PatternSearch {
  readonly #window: number;
  readonly #bits: number;
  readonly #leaps: Uint8Array;
  /** By the place in the tables of the last two bytes of a pattern's window; the longest first, so that no rest is left behind. */
  readonly #patterns = new Map<number, Buffer[]>();

  constructor(texts: readonly string[]) {
    const patterns = [...new Set(texts)].map((text) => Buffer.from(text));
    this.#window = Math.min(256, ...patterns.map((pattern) => pattern.length));
    // Large enough that most of it stays free; an exchange may have a scrubber of its own.
    this.#bits = Math.min(16, Math.max(10, 36 - Math.clz32(patterns.length)));
    this.#leaps = new Uint8Array(1 << this.#bits).fill(this.#window - 1);
    for (const pattern of patterns.sort((one, other) => other.length - one.length)) this.#add(pattern);
  }

  #add(pattern: Buffer): void {
    for (let at = 1; at < this.#window; at += 1) {
      const pair = this.#pairAt(pattern, at);
      this.#leaps[pair] = Math.min(this.#leaps[pair] as number, this.#window - 1 - at);
    }
    const last = this.#pairAt(pattern, this.#window - 1);
    const same = this.#patterns.get(last);
    if (same === undefined) this.#patterns.set(last, [pattern]);
    else same.push(pattern);
  }

  /** Where the text has patterns, the longest at each place. */
  places(text: Buffer): readonly Range[] {
    const places: Range[] = [];
    if (this.#patterns.size === 0) return places;
    const reach = this.#window - 1;
    for (let at = reach; at < text.length; ) {
      const pair = this.#pairAt(text, at);
      const leap = this.#leaps[pair] as number;
      const start = at - reach;
      const found =
        leap > 0 ? undefined : this.#patterns.get(pair)?.find((each) => standsAt(text, start, each));
      if (found === undefined) {
        at += Math.max(leap, 1);
      } else {
        const end = start + found.length;
        places.push({ start, end });
        at = end + reach;
      }
    }
    return places;
  }

  /** The place in the tables of the two bytes that end at `at`. */
  #pairAt(bytes: Buffer, at: number): number {
    const pair = ((bytes[at - 1] as number) << 8) | (bytes[at] as number);
    return Math.imul(pair, 0x9e3779b1) >>> (32 - this.#bits);
  }
}

function standsAt(text: Buffer, start: number, pattern: Buffer): boolean {
  const end = start + pattern.length;
  // A call of `compare` costs as much as dozens of these.
  if (text[start] !== pattern[0] || text[start + 1] !== pattern[1] || end > text.length) return false;
  return text.compare(pattern, 0, pattern.length, start, end) === 0;
}
