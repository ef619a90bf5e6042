import { messageOfError } from './message-of.ts';

/** Causes of one outage that are reported. */
const most = 5;

/** Which causes of an outage were reported: each once, since a lost connection is often only the first. */
export class OutageCauses {
  readonly #reported = new Set<string>();

  /** Whether this one has to be reported. */
  add(cause: unknown): boolean {
    const text = messageOfError(cause);
    // Redis's error code, its first word, is the same whichever command got it.
    const kind = /^[A-Z]+(?= )/.exec(text)?.[0] ?? text;
    if (this.#reported.has(kind) || this.#reported.size === most) return false;
    this.#reported.add(kind);
    return true;
  }

  /** The outage is over. */
  clear(): void {
    this.#reported.clear();
  }
}
