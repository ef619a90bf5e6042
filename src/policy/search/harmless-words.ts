const slotCount = 2048;
const slotSize = 32;
/** Longest word that is remembered; one byte of its slot says how long it is. */
export const longestWord = slotSize - 1;

/**
 * Short texts that hold nothing: the keys and labels of a format, which every body repeats by the thousand.
 * A word is compared byte by byte; another that falls into its slot takes its place.
 */
export class HarmlessWords {
  readonly #slots = new Uint8Array(slotCount * slotSize);

  has(bytes: Uint8Array, start: number, end: number): boolean {
    const slot = slotOf(bytes, start, end);
    const slots = this.#slots;
    // Empty slots say 0, which no word is long that comes here.
    if (slots[slot] !== end - start) return false;
    for (let at = start, place = slot + 1; at < end; at += 1, place += 1) {
      if (slots[place] !== bytes[at]) return false;
    }
    return true;
  }

  add(bytes: Uint8Array, start: number, end: number): void {
    const slot = slotOf(bytes, start, end);
    this.#slots[slot] = end - start;
    for (let at = start, place = slot + 1; at < end; at += 1, place += 1) {
      this.#slots[place] = bytes[at] as number;
    }
  }
}

function slotOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = end - start;
  for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
  return ((hash ^ (hash >>> 15)) & (slotCount - 1)) * slotSize;
}
