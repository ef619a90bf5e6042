import type { JsonDocument } from './json-document.ts';
import { commonLength, type KnownPrefix } from './shared-prefix.ts';
import { parseStrictJson } from './strict-json.ts';

/** Shorter bodies are parsed as fast as they would be looked up. */
const shortest = 1024;
const bodyLimit = 64;
/** A shorter prefix in common is not worth continuing from. */
const headBytes = 512;
/** A cached body is replaced by a longer one that repeats more than this share of it: the conversation has gone on. */
const supersededShare = 0.75;

interface Cached {
  readonly document: JsonDocument;
  /** A hash of the first bytes, to rule out most candidates quickly. */
  readonly head: number;
  readonly bytes: number;
}

/**
 * Parses bodies strictly and caches the most recent ones: an agent's next request is its last one plus a turn, so it is
 * parsed only from where the two differ. Bytes are compared, not hashes, so no body can be crafted to pass for another;
 * the result is the one of `parseStrictJson`, errors included.
 *
 * The bodies are kept as they came and must not be changed. Their memory is bounded; the least recently used go first.
 */
export class BodyCache {
  readonly #limitBytes: number;
  /** In order of use, the most recent last. */
  readonly #cached: Cached[] = [];
  #bytes = 0;

  constructor({ limitBytes = 1 << 24 }: { limitBytes?: number } = {}) {
    this.#limitBytes = limitBytes;
  }

  /** Throws what `parseStrictJson` throws. */
  read(bytes: Buffer): JsonDocument {
    if (bytes.length < shortest) return parseStrictJson(bytes);
    const head = headOf(bytes);
    const known = this.#find(bytes, head);
    if (known !== undefined && isWhole(known, bytes)) return known.document;
    const document = parseStrictJson(bytes, known);
    this.#store({ document, head, bytes: document.memoryBytes }, known);
    return document;
  }

  /** The cached body that has the longest prefix in common with this one. */
  #find(bytes: Buffer, head: number): KnownPrefix | undefined {
    const cached = this.#cached;
    let at = -1;
    let length = headBytes - 1;
    let difference = 0;
    for (let index = cached.length - 1; index >= 0 && length < bytes.length; index -= 1) {
      const candidate = cached[index] as Cached;
      if (candidate.head !== head) continue;
      const other = candidate.document.bytes;
      // Conversations with the same system prompt differ soon after it: two comparisons usually decide.
      if (!isSameAround(other, bytes, difference) || !isSameAround(other, bytes, length)) continue;
      const common = commonLength(other, bytes);
      if (common <= length) {
        difference = common;
        continue;
      }
      at = index;
      length = common;
    }
    const found = cached[at];
    if (found === undefined) return undefined;
    if (at < cached.length - 1) cached.push(...cached.splice(at, 1));
    return { document: found.document, length };
  }

  #store(entry: Cached, known: KnownPrefix | undefined): void {
    if (entry.bytes > this.#limitBytes / 2) return;
    entry.document.isCached = true;
    // An earlier turn of this conversation is no longer needed; other conversations are. The one found is last.
    if (known !== undefined && known.length > known.document.bytes.length * supersededShare) {
      this.#bytes -= this.#cached.pop()?.bytes ?? 0;
    }
    this.#cached.push(entry);
    this.#bytes += entry.bytes;
    while (this.#bytes > this.#limitBytes || this.#cached.length > bodyLimit) {
      this.#bytes -= this.#cached.shift()?.bytes ?? 0;
    }
  }
}

function headOf(bytes: Buffer): number {
  let hash = 0;
  for (let at = 0; at < headBytes; at += 4) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
  return hash;
}

/** Whether two bodies agree at a byte and a few around it. */
function isSameAround(one: Buffer, other: Buffer, at: number): boolean {
  const first = Math.max(0, at - 3);
  const end = Math.min(at + 4, one.length, other.length);
  if (end <= at) return false;
  for (let place = first; place < end; place += 1) if (one[place] !== other[place]) return false;
  return true;
}

function isWhole({ document, length }: KnownPrefix, bytes: Buffer): boolean {
  return length === bytes.length && length === document.bytes.length;
}
