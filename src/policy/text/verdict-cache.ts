import { hash } from 'node:crypto';
import type { TextVerdict } from './reader.ts';
import type { TextBytes } from './scanner.ts';

/**
 * Verdicts of long texts by their hash: most of a conversation is sent again with every turn. Bounded by
 * number; the oldest goes first. A cache belongs to one compiled set and is dropped with it.
 */
export class VerdictCache {
  /** Shorter texts are read again quicker than hashed. */
  readonly shortest: number;
  readonly #limit: number;
  readonly #verdicts = new Map<string, TextVerdict>();

  constructor({ shortest = 256, limit = 20_000 }: { shortest?: number; limit?: number } = {}) {
    this.shortest = shortest;
    this.#limit = limit;
  }

  /** A key that nobody can make equal for two texts, or a harmless text could vouch for another. */
  key({ bytes, start, end, isEscaped }: TextBytes): string {
    return (isEscaped ? 'e' : 'p') + hash('sha256', bytes.subarray(start, end), 'base64');
  }

  get(key: string): TextVerdict | undefined {
    return this.#verdicts.get(key);
  }

  set(key: string, verdict: TextVerdict): void {
    if (this.#verdicts.size >= this.#limit) {
      const oldest = this.#verdicts.keys().next();
      if (!oldest.done) this.#verdicts.delete(oldest.value);
    }
    this.#verdicts.set(key, verdict);
  }
}
