type Path = readonly PropertyKey[];

/** Things that stand at paths, found by a path at, above or below theirs without a look at all the others. */
export class PathIndex<Item> {
  readonly #at = new Map<string, Item>();
  readonly #below = new Map<string, Item[]>();

  add(path: Path, item: Item): void {
    this.#at.set(JSON.stringify(path), item);
    for (let length = 0; length <= path.length; length += 1) {
      const head = JSON.stringify(path.slice(0, length));
      const items = this.#below.get(head);
      if (items === undefined) this.#below.set(head, [item]);
      else items.push(item);
    }
  }

  at(path: Path): Item | undefined {
    return this.#at.size === 0 ? undefined : this.#at.get(JSON.stringify(path));
  }

  /** What stands at a path or below it, in the order in which it was added. */
  below(path: Path): readonly Item[] {
    return this.#at.size === 0 ? [] : (this.#below.get(JSON.stringify(path)) ?? []);
  }

  /** Whether something stands at a path or above it. */
  covers(path: Path): boolean {
    return path.some((_, i) => this.at(path.slice(0, i)) !== undefined) || this.at(path) !== undefined;
  }
}
