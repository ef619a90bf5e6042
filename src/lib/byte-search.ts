/** Where a text was found. */
interface Found {
  readonly start: number;
  readonly end: number;
}

interface ByteSearchOptions {
  /** Whether a text may be found at a place; by default everywhere. */
  readonly accepts?: (bytes: Buffer, start: number, end: number) => boolean;
  /** Maximum texts that are sought among those that begin alike: this bounds the work if others choose the texts. */
  readonly maxAlike?: number;
}

/** Bytes of the beginning by which texts are distinguished where many share an entry of the table. */
const prefixBytes = 24;
/** Texts of one entry of the table that are compared one by one. */
const fewTexts = 8;

/**
 * Searches bytes for several texts at once (Wu and Manber, 1994): a table indexed by two bytes gives the distance to the
 * next place where any text can end, so most of the bytes are never read, and the number of texts hardly matters.
 * Texts have at least two bytes; the shortest one limits how far the search can skip.
 */
export class ByteSearch {
  readonly #texts: readonly Buffer[];
  readonly #window: number;
  readonly #bits: number;
  readonly #leaps: Uint8Array;
  readonly #accepts: ByteSearchOptions['accepts'];
  readonly #maxAlike: number;
  /** By the entry of the last two bytes of a text's window; the longest first, so that no rest is left behind. */
  readonly #byEnd = new Map<number, Buffer[]>();
  #byPrefix: ReadonlyMap<string, readonly Buffer[]> | undefined;

  constructor(
    texts: Iterable<string>,
    { accepts, maxAlike = Number.POSITIVE_INFINITY }: ByteSearchOptions = {},
  ) {
    this.#texts = [...new Set(texts)].map((text) => Buffer.from(text));
    this.#accepts = accepts;
    this.#maxAlike = maxAlike;
    // Not by spreading, which a call can't do with a hundred thousand.
    this.#window = this.#texts.reduce((shortest, { length }) => Math.min(shortest, length), 256);
    // Large enough that most of it stays free; an exchange may have a search of its own.
    this.#bits = Math.min(16, Math.max(10, 36 - Math.clz32(this.#texts.length)));
    this.#leaps = new Uint8Array(1 << this.#bits).fill(this.#window - 1);
    for (const text of longestFirst(this.#texts)) this.#add(text);
  }

  #add(text: Buffer): void {
    for (let at = 1; at < this.#window; at += 1) {
      const pair = this.#pairAt(text, at);
      this.#leaps[pair] = Math.min(this.#leaps[pair] as number, this.#window - 1 - at);
    }
    const last = this.#pairAt(text, this.#window - 1);
    const same = this.#byEnd.get(last);
    if (same === undefined) this.#byEnd.set(last, [text]);
    else same.push(text);
  }

  /** Where the texts are: one after the other, the longest at each place. */
  places(bytes: Buffer): readonly Found[] {
    const places: Found[] = [];
    if (this.#texts.length === 0) return places;
    const reach = this.#window - 1;
    for (let at = reach; at < bytes.length; ) {
      const pair = this.#pairAt(bytes, at);
      const leap = this.#leaps[pair] as number;
      const start = at - reach;
      const found = leap > 0 ? undefined : this.#textAt(bytes, start, pair);
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

  #textAt(bytes: Buffer, start: number, pair: number): Buffer | undefined {
    let texts: readonly Buffer[] | undefined = this.#byEnd.get(pair);
    if (texts !== undefined && texts.length > fewTexts) texts = this.#alike(bytes, start);
    return texts?.find(
      (text) => standsAt(bytes, start, text) && this.#accepts?.(bytes, start, start + text.length) !== false,
    );
  }

  /** The texts that begin as the bytes do. */
  #alike(bytes: Buffer, start: number): readonly Buffer[] | undefined {
    const length = Math.min(this.#window, prefixBytes);
    this.#byPrefix ??= groupByPrefix(this.#texts, length, this.#maxAlike);
    return this.#byPrefix.get(bytes.toString('latin1', start, start + length));
  }

  /** The entry of the two bytes that end at `at`. */
  #pairAt(bytes: Buffer, at: number): number {
    const pair = ((bytes[at - 1] as number) << 8) | (bytes[at] as number);
    return Math.imul(pair, 0x9e3779b1) >>> (32 - this.#bits);
  }
}

function longestFirst(texts: readonly Buffer[]): readonly Buffer[] {
  return texts.toSorted((one, other) => other.length - one.length);
}

function groupByPrefix(
  texts: readonly Buffer[],
  length: number,
  mostAlike: number,
): ReadonlyMap<string, readonly Buffer[]> {
  const groups = new Map<string, Buffer[]>();
  for (const text of texts) {
    const prefix = text.toString('latin1', 0, length);
    const alike = groups.get(prefix);
    if (alike === undefined) groups.set(prefix, [text]);
    else if (alike.length < mostAlike) alike.push(text);
  }
  return new Map([...groups].map(([prefix, alike]) => [prefix, longestFirst(alike)]));
}

function standsAt(bytes: Buffer, start: number, text: Buffer): boolean {
  const end = start + text.length;
  // A call of `compare` costs as much as dozens of these.
  if (bytes[start] !== text[0] || bytes[start + 1] !== text[1] || end > bytes.length) return false;
  return bytes.compare(text, 0, text.length, start, end) === 0;
}
