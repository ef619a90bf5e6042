/**
 * Length of a run from which a text may contain a key of an unlisted service. Counted here and not by the automata: a
 * counted repetition multiplies their states, and ids, which are new in every request, would create new states each
 * time (`bench/fresh-ids.mjs`: 680 µs instead of 200 for a body of 8 KB).
 */
export const longRunLength = 31;

/** How certain a finding is, in ascending order. */
export const confidences = ['possible', 'likely', 'certain'] as const;
export type Confidence = (typeof confidences)[number];

/** The minimum for rules that don't set one. */
export const defaultConfidence = 'likely' satisfies Confidence;

/** A part of a text, in UTF-16 units. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** What a detector found; `likely` by default. */
export interface Finding extends Range {
  readonly confidence?: Confidence;
  /** What it is and how it was recognized, for display: "GitHub token, checksum". Never a part of the value. */
  readonly why?: string;
}

/** One of many literals, at the beginning of a word or anywhere, and a regex (RE2 syntax) that follows it. */
export interface AnchoredRegex {
  readonly literals: ReadonlySet<string>;
  readonly atWordStart: boolean;
  readonly tail: string;
}

/**
 * Finds one kind of sensitive text.
 *
 * @example
 * ```ts
 * // Badge numbers of a company: BDG-, six digits.
 * export const badge: Detector = {
 *   prefilter: { kind: 'literals', literals: ['bdg-'] },
 *   reach: 10,
 *   folded: true,
 *   ignoresCase: true,
 *   holdsSpace: 'never',
 *   find: (text) =>
 *     Array.from(text.matchAll(/\bBDG-\d{6}\b/gi), ({ index, 0: { length } }) => ({
 *       start: index,
 *       end: index + length,
 *       confidence: 'certain',
 *     })),
 * };
 * ```
 */
export interface Detector {
  /**
   * What a text must contain for the detector to run: one of some lower-case literals (matched in any case), one of
   * some regexes (RE2 syntax) in its folded view or a run of `longRunLength` key characters; or nothing. What is asked of
   * a service (`matchers/check.ts`) no prefilter decides.
   */
  readonly prefilter:
    | { readonly kind: 'literals'; readonly literals: readonly string[] }
    | {
        readonly kind: 'regexes';
        readonly regexes: readonly (string | AnchoredRegex)[];
        readonly orLongRun?: true;
      }
    | { readonly kind: 'always' }
    | { readonly kind: 'asked' };
  /** Longest match in characters, which determines how much of a stream is held back. */
  readonly reach: number;
  /**
   * How much of two texts it is to read for what goes over the place where they meet, from there on in both directions;
   * absent if that is always its reach.
   */
  reachAcross?(before: string, after: string): number;
  /** Whether it is run on the folded view too. */
  readonly folded: boolean;
  /** Set if the lower-cased form of an ASCII text yields nothing that the text itself doesn't. */
  readonly ignoresCase?: true;
  /**
   * What a text must contain for a finding to have a space in it. Texts that are joined with one need not be
   * searched without it: nothing goes over the place where they meet.
   */
  readonly holdsSpace?: RegExp | 'never';
  /** Set if no finding of it can be certain. */
  readonly neverCertain?: true;
  /**
   * Also finds what is only possible; absent if the detector has nothing less than likely. Finds something that is at
   * least likely in the texts in which the detector itself does, and in no others.
   */
  readonly possible?: Detector;
  /** Finds what is likely or certain, in linear time. */
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
      return {
        ...detector,
        find: (text) => detector.find(text).filter((finding) => isSureEnough(finding, confidence)),
      };
  }
}

export function isSureEnough({ confidence = defaultConfidence }: Finding, least: Confidence): boolean {
  return confidence === least || confidences.indexOf(confidence) >= confidences.indexOf(least);
}

/** Whether one finding is more certain than another. */
export function isSurer(one: Finding, { confidence = defaultConfidence }: Finding): boolean {
  return (one.confidence ?? defaultConfidence) !== confidence && isSureEnough(one, confidence);
}

/** Findings, or ranges, in order; overlapping ones become one, as sure as the surer of them. */
export function joinOverlapping(findings: readonly Finding[]): readonly Finding[] {
  if (findings.length < 2) return findings;
  const joined: Finding[] = [];
  for (const finding of findings.toSorted((one, other) => one.start - other.start)) {
    const last = joined.at(-1);
    if (last === undefined || finding.start >= last.end) joined.push(finding);
    else if (finding.end > last.end || isSurer(finding, last)) {
      const end = Math.max(last.end, finding.end);
      joined[joined.length - 1] = { ...(isSurer(finding, last) ? finding : last), start: last.start, end };
    }
  }
  return joined;
}
