import type { JsonDocument } from './json-document.ts';
import { commonLength, type KnownBeginning } from './known-beginning.ts';
import { parseStrictJson } from './strict-json.ts';

/** Shorter bodies are read as quickly as they are found here. */
const shortest = 1024;
const bodyLimit = 64;
/** Bytes that a body must have in common with another before it is worth going on from there. */
const headBytes = 512;
/** A body of which a longer one repeats more than this is treated as an earlier turn of the same conversation. */
const supersededShare = 0.75;

interface Kept {
  readonly document: JsonDocument;
  /** A hash of the first bytes, to pass over most of the others quickly. */
  readonly head: number;
  readonly bytes: number;
}

/**
 * Reads bodies strictly, and keeps the last ones: an agent's next request is its last one and a turn more, so
 * it is read from where the two part. Bytes are compared with bytes, so no body can be made that passes for
 * another; what comes out is what `parseStrictJson` returns, errors included.
 *
 * Bounded by the memory of the bodies, which are kept as they came and must not be changed; the ones that were
 * not met for longest go first.
 */
export class KnownBodies {
  readonly #limitBytes: number;
  /** The last one met comes last. */
  readonly #kept: Kept[] = [];
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
    this.#keep({ document, head, bytes: document.memoryBytes }, known);
    return document;
  }

  /** The document of a body with these very bytes, if it is still here. */
  recall(bytes: Buffer): JsonDocument | undefined {
    const known = bytes.length < shortest ? undefined : this.#find(bytes, headOf(bytes));
    return known !== undefined && isWhole(known, bytes) ? known.document : undefined;
  }

  /** The body that begins like this one for longest. */
  #find(bytes: Buffer, head: number): KnownBeginning | undefined {
    const kept = this.#kept;
    let at = -1;
    let length = headBytes - 1;
    let parting = 0;
    for (let index = kept.length - 1; index >= 0 && length < bytes.length; index -= 1) {
      const candidate = kept[index] as Kept;
      if (candidate.head !== head) continue;
      const other = candidate.document.bytes;
      // Conversations with one system prompt part soon behind it: mostly two comparisons are enough.
      if (!isSameAround(other, bytes, parting) || !isSameAround(other, bytes, length)) continue;
      const common = commonLength(other, bytes);
      if (common <= length) {
        parting = common;
        continue;
      }
      at = index;
      length = common;
    }
    const met = kept[at];
    if (met === undefined) return undefined;
    if (at < kept.length - 1) kept.push(...kept.splice(at, 1));
    return { document: met.document, length };
  }

  #keep(kept: Kept, known: KnownBeginning | undefined): void {
    if (kept.bytes > this.#limitBytes / 2) return;
    kept.document.isKept = true;
    // A turn before is of no more use; a conversation that only begins alike is. What was met stands last.
    if (known !== undefined && known.length > known.document.bytes.length * supersededShare) {
      this.#bytes -= this.#kept.pop()?.bytes ?? 0;
    }
    this.#kept.push(kept);
    this.#bytes += kept.bytes;
    while (this.#bytes > this.#limitBytes || this.#kept.length > bodyLimit) {
      this.#bytes -= this.#kept.shift()?.bytes ?? 0;
    }
  }
}

function headOf(bytes: Buffer): number {
  let hash = 0;
  for (let at = 0; at < headBytes; at += 4) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
  return hash;
}

/** Whether two bodies are the same at a byte and some before and behind it. */
function isSameAround(one: Buffer, other: Buffer, at: number): boolean {
  const first = Math.max(0, at - 3);
  const end = Math.min(at + 4, one.length, other.length);
  if (end <= at) return false;
  for (let place = first; place < end; place += 1) if (one[place] !== other[place]) return false;
  return true;
}

function isWhole({ document, length }: KnownBeginning, bytes: Buffer): boolean {
  return length === bytes.length && length === document.bytes.length;
}
