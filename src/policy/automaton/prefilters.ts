import { RE2JS } from 're2js';
import type { Detector } from '../detectors/detector.ts';

/**
 * What must occur in a text for a detector to run on it: literals in any case, regexes in the folded view, or nothing at
 * all. The automaton searches for it together with everything else, at no extra cost.
 */
export interface Prefilter {
  readonly literals: readonly string[];
  readonly regexes: readonly RE2JS[];
  readonly isOpen: boolean;
  /** Whether a long run of characters that keys are made of is enough, too. */
  readonly opensForLongRuns: boolean;
}

export function prefilterOf({ prefilter }: Detector): Prefilter {
  switch (prefilter.kind) {
    case 'literals':
      return { literals: prefilter.literals, regexes: [], isOpen: false, opensForLongRuns: false };
    case 'regexes':
      return {
        literals: [],
        regexes: prefilter.regexes.map(compile),
        isOpen: false,
        opensForLongRuns: prefilter.orLongRun === true,
      };
    case 'always':
      return { literals: [], regexes: [], isOpen: true, opensForLongRuns: false };
  }
}

/** The folded view is in lower case, and so are the regexes: compiling them case-insensitively would dominate start-up. */
function compile(source: string): RE2JS {
  return RE2JS.compile(source);
}
