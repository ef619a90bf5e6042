/** What the list can hold: an item that knows its own index there. */
export interface SwapRemoveItem {
  /** Its index in the list; only the list writes it. */
  place: number;
}

/**
 * An unordered collection for items that are added and removed all the time. Not a Set: V8 rehashes it after every few
 * removals, each old table keeps a pointer to the next, and once one of them is in the old generation, all that
 * they ever held stays in memory until the next full collection.
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

  /** The item must be in the list. */
  remove(item: Item): void {
    const last = this.#items.pop() as Item;
    if (last === item) return;
    this.#items[item.place] = last;
    last.place = item.place;
  }
}
