import { randomBytes } from 'node:crypto';
import type { KeyRecord, KeyRing } from '../config/build/keys.ts';

const passMs = 10_000;
const maxPasses = 100;

/**
 * One-time keys, with which the gateway can send a request again on behalf of a key of which it knows only the hash. Each
 * is valid for one request within seconds, and is sent only to the process's own port.
 */
export class KeyPasses {
  readonly #passes = new Map<string, { readonly key: string; readonly endsMs: number }>();

  issue(key: string): string {
    if (this.#passes.size >= maxPasses) this.#passes.delete(this.#passes.keys().next().value as string);
    const pass = `pass_${randomBytes(32).toString('hex')}`;
    this.#passes.set(pass, { key, endsMs: Date.now() + passMs });
    return pass;
  }

  /** A key ring in which a pass can be used for its key, once. */
  over(ring: KeyRing): Pick<KeyRing, 'find'> {
    return {
      find: (presented) => {
        const known = ring.find(presented);
        if (known !== undefined || this.#passes.size === 0) return known;
        return this.#redeem(presented, ring);
      },
    };
  }

  #redeem(presented: string, ring: KeyRing): KeyRecord | undefined {
    const pass = this.#passes.get(presented);
    this.#passes.delete(presented);
    if (pass === undefined || pass.endsMs < Date.now()) return undefined;
    return [...ring.records()].find(({ id }) => id === pass.key);
  }
}
