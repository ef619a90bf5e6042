import { type JsonDocument, kinds } from './json-document.ts';

/** A cached document with which a body has its first bytes in common. */
export interface KnownPrefix {
  readonly document: JsonDocument;
  /** How many bytes; they were compared, not hashed. */
  readonly length: number;
}

/** A position between two values of a document. */
export interface Boundary {
  /** The byte at which parsing continues. */
  readonly at: number;
  /** How many entries come before it. */
  readonly entries: number;
  /** Containers that are open there, the outermost first. */
  readonly open: readonly number[];
}

/**
 * The last position in a document's first bytes up to which parsing doesn't depend on what follows: after a complete
 * value or member, or after an opening bracket. A value is complete with its closing bracket, or with one byte more,
 * since a number might continue. Undefined if not even the object has begun.
 */
export function lastBoundary(document: JsonDocument, length: number): Boundary | undefined {
  if (document.start(document.root) >= length) return undefined;
  const open: number[] = [];
  let at = 0;
  let entries = 0;
  let container: number | undefined = document.root;
  while (container !== undefined) {
    open.push(container);
    at = document.start(container) + 1;
    entries = container + 1;
    const end = document.next(container);
    const keys: number = document.kind(container) === kinds.object ? 1 : 0;
    container = undefined;
    while (entries < end) {
      const value: number = entries + keys;
      const isWhole =
        document.end(value) < length || (document.end(value) === length && isContainer(document, value));
      if (!isWhole) {
        if (isContainer(document, value) && document.start(value) < length) container = value;
        break;
      }
      at = document.end(value) + (document.kind(value) === kinds.string ? 1 : 0);
      entries = document.next(value);
    }
  }
  return { at, entries, open };
}

function isContainer(document: JsonDocument, entry: number): boolean {
  return document.kind(entry) <= kinds.array;
}

/** The length of the prefix that two buffers have in common; compared, so that no input can be crafted to pass. */
export function commonLength(one: Buffer, other: Buffer): number {
  const limit = Math.min(one.length, other.length);
  let same = 0;
  let end = 0;
  for (let block = firstBlock; same < limit; block *= 2) {
    end = Math.min(same + block, limit);
    if (one.compare(other, same, end, same, end) !== 0) break;
    same = end;
  }
  while (end - same > lastBlock) {
    const middle = (same + end) >>> 1;
    if (one.compare(other, same, middle, same, middle) === 0) same = middle;
    else end = middle;
  }
  while (same < end && one[same] === other[same]) same += 1;
  return same;
}

const firstBlock = 1024;
// Below this, comparing byte by byte is faster than native calls.
const lastBlock = 256;
