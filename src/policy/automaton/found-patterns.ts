export const views = ['exact', 'folded'] as const;
export type View = (typeof views)[number];

/** The patterns found in one text, per view, without duplicates. */
export class FoundPatterns {
  readonly exact: number[] = [];
  readonly folded: number[] = [];
  readonly #seen: Readonly<Record<View, Uint8Array>>;

  constructor(patternCount: number) {
    this.#seen = { exact: new Uint8Array(patternCount), folded: new Uint8Array(patternCount) };
  }

  get isEmpty(): boolean {
    return this.exact.length === 0 && this.folded.length === 0;
  }

  note(view: View, patterns: readonly number[]): void {
    const seen = this.#seen[view];
    for (const pattern of patterns) {
      if (seen[pattern] === 1) continue;
      seen[pattern] = 1;
      this[view].push(pattern);
    }
  }

  clear(): void {
    if (this.exact.length > 0) forget(this.exact, this.#seen.exact);
    if (this.folded.length > 0) forget(this.folded, this.#seen.folded);
  }
}

function forget(found: number[], seen: Uint8Array): void {
  for (const pattern of found) seen[pattern] = 0;
  found.length = 0;
}
