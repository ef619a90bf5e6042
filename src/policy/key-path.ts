import { type JsonDocument, kinds } from '../dialects/json-document.ts';

/** One step on the way from the root to an entry. */
export interface PathStep {
  readonly container: number;
  /** The key below which the way goes on; undefined in arrays. */
  readonly name: string | undefined;
}

/** The way from the root to an entry. */
export function keyPath(document: JsonDocument, entry: number): readonly PathStep[] {
  const path: PathStep[] = [];
  let container: number = document.root;
  while (container !== entry && document.kind(container) <= kinds.array) {
    const isObject = document.kind(container) === kinds.object;
    let at = container + 1;
    let value = isObject ? at + 1 : at;
    while (document.next(value) <= entry) {
      at = document.next(value);
      value = isObject ? at + 1 : at;
    }
    path.push({ container, name: isObject ? document.text(at) : undefined });
    if (at === entry) return path;
    container = value;
  }
  return path;
}
