export interface Finding {
  readonly start: number;
  readonly end: number;
} // UTF-16 offsets into the text
export interface Detector {
  /** Lower-case ASCII literals of which at least one must occur (case-insensitively) in a text for it to be worth a look; or 'digits' | 'always'. */
  readonly prefilter:
    | { readonly kind: 'literals'; readonly literals: readonly string[] }
    | { readonly kind: 'digits'; readonly atLeast: number }
    | { readonly kind: 'always' };
  /** Longest match in characters: how far a stream's hold-back window must reach. */
  readonly reach: number;
  /** Whether it is run on the folded view too. */
  readonly folded: boolean;
  /** Set where it finds nothing in an ASCII text in small letters that it doesn't find in the text itself. */
  readonly ignoresCase?: true;
  find(text: string): readonly Finding[]; // linear time
}
