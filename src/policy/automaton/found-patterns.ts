export const views = ['exact', 'folded'] as const;
export type View = (typeof views)[number];

/** The patterns found in one text, per view. */
export class FoundPatterns {
  readonly exact = new Set<number>();
  readonly folded = new Set<number>();

  get isEmpty(): boolean {
    return this.exact.size === 0 && this.folded.size === 0;
  }

  note(view: View, patterns: readonly number[]): void {
    for (const pattern of patterns) this[view].add(pattern);
  }

  clear(): void {
    // Nearly always empty, and then clearing costs more than looking.
    if (this.exact.size > 0) this.exact.clear();
    if (this.folded.size > 0) this.folded.clear();
  }
}
