/** A place in a text where one of the patterns occurs. */
interface Occurrence {
  readonly start: number;
  readonly length: number;
}

/**
 * Searches bytes for several patterns at once (Wu and Manber, 1994): a table indexed by two bytes gives the distance to
 * the next place where any pattern can end, so most of the text is never read. Patterns must have at least two
 * bytes; the shortest one limits how far the search can skip.
 */
export class PatternSearch {
  readonly #window: number;
  readonly #leaps: Uint8Array;
  /** Keyed by the last two bytes of a pattern's window; the longest first. */
  readonly #patterns = new Map<number, Buffer[]>();

  constructor(patterns: readonly Buffer[]) {
    this.#window = Math.min(256, ...patterns.map((pattern) => pattern.length));
    this.#leaps = new Uint8Array(65_536).fill(this.#window - 1);
    for (const pattern of [...patterns].sort((one, other) => other.length - one.length)) this.#add(pattern);
  }

  #add(pattern: Buffer): void {
    for (let at = 1; at < this.#window; at += 1) {
      const pair = pairAt(pattern, at);
      this.#leaps[pair] = Math.min(this.#leaps[pair] as number, this.#window - 1 - at);
    }
    const last = pairAt(pattern, this.#window - 1);
    const same = this.#patterns.get(last);
    if (same === undefined) this.#patterns.set(last, [pattern]);
    else same.push(pattern);
  }

  /** The first place at or after `from`, with the longest pattern there. */
  next(text: Buffer, from: number): Occurrence | undefined {
    if (this.#patterns.size === 0) return undefined;
    const leaps = this.#leaps;
    const reach = this.#window - 1;
    for (let at = from + reach; at < text.length; ) {
      const pair = ((text[at - 1] as number) << 8) | (text[at] as number);
      const leap = leaps[pair] as number;
      if (leap > 0) {
        at += leap;
        continue;
      }
      const start = at - reach;
      const pattern = this.#patterns.get(pair)?.find((each) => standsAt(text, start, each));
      if (pattern !== undefined) return { start, length: pattern.length };
      at += 1;
    }
    return undefined;
  }
}

function pairAt(bytes: Buffer, at: number): number {
  return ((bytes[at - 1] as number) << 8) | (bytes[at] as number);
}

function standsAt(text: Buffer, start: number, pattern: Buffer): boolean {
  const end = start + pattern.length;
  return end <= text.length && text.compare(pattern, 0, pattern.length, start, end) === 0;
}
