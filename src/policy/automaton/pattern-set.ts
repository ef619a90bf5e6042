import type { RE2JS } from 're2js';
import type { Fold } from '../fold/fold.ts';
import type { Limits } from './byte-reader.ts';
import { Nfa } from './nfa.ts';
import { addFolded, codePoints, type Pattern } from './patterns.ts';
import { prefilterOf } from './prefilters.ts';
import { Scanner } from './scanner.ts';

/** All patterns of a set, and the automata that search for all of them in one pass. */
export interface PatternSet {
  readonly patterns: readonly Pattern[];
  readonly scanner: Scanner;
  readonly fold: Fold;
  /** Detectors that have to see every text. */
  readonly always: readonly number[];
  /** Detectors that have to see every text with a long run. */
  readonly longRuns: readonly number[];
}

/** Compiles patterns into two automata, one for each view; for a detector, its prefilter. */
export function compilePatternSet(patterns: readonly Pattern[], fold: Fold, limits: Limits = {}): PatternSet {
  const exact = new Nfa();
  const folded = new Nfa();
  const always: number[] = [];
  const longRuns: number[] = [];
  const prefilters: (readonly [RE2JS, number])[] = [];
  for (const [number, pattern] of patterns.entries()) {
    addFolded(folded, pattern, number);
    if (pattern.kind === 'phrase') {
      // The folded view also finds exact occurrences.
      if (pattern.folded === undefined) exact.addPhrase(codePoints(pattern.text), number);
    } else if (pattern.kind === 'regex') {
      exact.addRegex(pattern.exact, number);
    } else {
      const prefilter = prefilterOf(pattern.detector);
      if (prefilter.isOpen) always.push(number);
      if (prefilter.opensForLongRuns) longRuns.push(number);
      for (const literal of prefilter.literals) folded.addPhrase(codePoints(fold.text(literal)), number);
      for (const regex of prefilter.regexes) prefilters.push([regex, number]);
    }
  }
  for (const [regex, number] of prefilters) folded.addPrefilter(regex, number);
  const scanner = new Scanner({ exact, folded, fold, patternCount: patterns.length, longRuns }, limits);
  return { patterns, scanner, fold, always, longRuns };
}
