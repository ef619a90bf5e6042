/**
 * Characters in a row from which on a text may hold a key of a service that nobody has listed. Counted here and not by
 * the automata: a counted repetition multiplies their states, and ids, which are new in every request, would make new
 * states each time (`bench/fresh-ids.mjs`: 680 µs in place of 200 for a body of 8 KB).
 */
export const longRunLength = 31;

/** How certain a finding is, in ascending order. */
export const confidences = ['possible', 'likely', 'certain'] as const;
export type Confidence = (typeof confidences)[number];

/** What a rule that names no confidence asks for. */
export const defaultConfidence = 'likely' satisfies Confidence;

/** A part of a text, in UTF-16 units. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** What a detector found; `likely` by default. */
export interface Finding extends Range {
  readonly confidence?: Confidence;
  /** What it is and how it was recognized, for people: "GitHub token, checksum". Never a part of the value. */
  readonly why?: string;
}

export interface Detector {
  /**
   * What a text must contain for the detector to run: one of some literals in lower case (found in any case); one of some
   * regexes (RE2 syntax) in its folded view, or instead of them a run of `longRunLength` characters that keys are made of;
   * or nothing.
   */
  readonly prefilter:
    | { readonly kind: 'literals'; readonly literals: readonly string[] }
    | { readonly kind: 'regexes'; readonly regexes: readonly string[]; readonly orLongRun?: true }
    | { readonly kind: 'always' };
  /** Longest match in characters: how far a stream's hold-back window must reach. */
  readonly reach: number;
  /** Whether it is run on the folded view too. */
  readonly folded: boolean;
  /** Set if it finds nothing in the lower-cased form of an ASCII text that it doesn't find in the text itself. */
  readonly ignoresCase?: true;
  /** Set if no shape and no checksum makes a finding certain. */
  readonly neverCertain?: true;
  /** Also finds what is only possible; absent if nothing is less than likely. */
  readonly possible?: Detector;
  /** Finds in linear time what is likely and what is certain. */
  find(text: string): readonly Finding[];
}

/** The detector restricted to findings of at least this confidence. */
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
