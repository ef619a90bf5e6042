/** Gathers the names of what a translation leaves out, each once, for the record of the exchange. */
export type Dropped = Set<string>;

/** `messages[3].content[0].thinking` and its neighbours are one kind of loss, not many. */
export function noteDropped(dropped: Dropped, path: string): void {
  dropped.add(path.replace(/\[\d+\]/g, '[]'));
}
