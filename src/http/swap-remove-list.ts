/** What a bag can hold: it knows its own place there. */
export interface SwapRemoveItem {
  /** Where it lies in its bag; the bag's own business. */
  place: number;
}

/**
 * Things that come and go all the time, in no order. A Set of them would do but for its tables: V8 makes a new
 * one after every few removals, the old ones go on pointing to those that follow, and once one of them is in
 * the old generation, everything they ever held stays in memory until the next full collection.
 */
export class SwapRemoveList<Item extends SwapRemoveItem> {
  readonly #items: Item[] = [];

  get items(): readonly Item[] {
    return this.#items;
  }

  add(item: Item): void {
    item.place = this.#items.length;
    this.#items.push(item);
  }

  /** The item must be in the bag. */
  remove(item: Item): void {
    const last = this.#items.pop() as Item;
    if (last === item) return;
    this.#items[item.place] = last;
    last.place = item.place;
  }
}
