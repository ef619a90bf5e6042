/** Gathers the names of what a translation leaves out, each once, for the record of the exchange. */
export type Dropped = Set<string>;

// Names come from the client, so their number and length are bounded.
const countLimit = 100;
const lengthLimit = 100;

/** `messages[3].content[0].thinking` and its neighbours are one kind of loss, not many. */
export function noteDropped(dropped: Dropped, path: string): void {
  if (dropped.size < countLimit) dropped.add(path.slice(0, lengthLimit).replace(/\[\d+\]/g, '[]'));
}
