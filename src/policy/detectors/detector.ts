/** How sure a finding is, from the least to the most. */
export const confidences = ['possible', 'likely', 'certain'] as const;
export type Confidence = (typeof confidences)[number];

/** What a rule asks for that names no confidence. */
export const defaultConfidence = 'likely' satisfies Confidence;

/** A part of a text, in UTF-16 units. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** What a detector found; it is `likely` where nothing else is said. */
export interface Finding extends Range {
  readonly confidence?: Confidence;
  /** What it is and how it was recognized, for people: "GitHub token, checksum". Never a part of the value. */
  readonly why?: string;
}

export interface Detector {
  /**
   * What a text must hold to be worth a look: one of some literals in lower case (found in any case); one of some
   * regexes (RE2's syntax) in its folded view; or nothing.
   */
  readonly prefilter:
    | { readonly kind: 'literals'; readonly literals: readonly string[] }
    | { readonly kind: 'regexes'; readonly regexes: readonly string[] }
    | { readonly kind: 'always' };
  /** Longest match in characters: how far a stream's hold-back window must reach. */
  readonly reach: number;
  /** Whether it is run on the folded view too. */
  readonly folded: boolean;
  /** Set if it finds nothing in a lower-case ASCII text that it doesn't find in the text as it came. */
  readonly ignoresCase?: true;
  /** Set if no shape and no checksum makes a finding certain. */
  readonly neverCertain?: true;
  /** Finds what is possible too; absent if nothing is less than likely. */
  readonly possible?: Detector;
  /** Finds in linear time what is likely and what is certain. */
  find(text: string): readonly Finding[];
}

/** The detector that finds what is at least so sure. */
export function atLeast(detector: Detector, confidence: Confidence): Detector {
  switch (confidence) {
    case 'possible':
      return detector.possible ?? detector;
    case 'likely':
      return detector;
    case 'certain':
      return { ...detector, find: (text) => detector.find(text).filter(isCertain) };
  }
}

function isCertain({ confidence }: Finding): boolean {
  return confidence === 'certain';
}
