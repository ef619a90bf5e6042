import { RE2JS } from 're2js';
import type { Detector } from '../detectors/detector.ts';
import type { Fold } from '../fold/fold.ts';
import type { Limits } from './byte-reader.ts';
import { Nfa } from './nfa.ts';
import { addFolded, codePoints, type Pattern } from './patterns.ts';
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
  /** Of a detector that is sought with less certainty too, the number of that pattern, which finds all that it does. */
  readonly wider: ReadonlyMap<number, number>;
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
      const { prefilter } = pattern.detector;
      if (prefilter.kind === 'always') always.push(number);
      else if (prefilter.kind === 'literals') {
        for (const literal of prefilter.literals) folded.addPhrase(codePoints(fold.text(literal)), number);
      } else {
        if (prefilter.orLongRun) longRuns.push(number);
        // The folded view is in lower case, as these are: compiled without regard to case they would dominate start-up.
        for (const source of prefilter.regexes) prefilters.push([RE2JS.compile(source), number]);
      }
    }
  }
  for (const [regex, number] of prefilters) folded.addPrefilter(regex, number);
  const scanner = new Scanner({ exact, folded, fold, longRuns }, limits);
  return { patterns, scanner, fold, always, longRuns, wider: findWider(patterns) };
}

function findWider(patterns: readonly Pattern[]): ReadonlyMap<number, number> {
  const numbers = new Map<Detector, number>();
  for (const [number, pattern] of patterns.entries()) {
    if (pattern.kind === 'detector') numbers.set(pattern.detector, number);
  }
  const wider = new Map<number, number>();
  for (const [number, pattern] of patterns.entries()) {
    const { possible } = pattern.kind === 'detector' ? pattern.detector : {};
    const other = possible === undefined ? undefined : numbers.get(possible);
    if (other !== undefined) wider.set(number, other);
  }
  return wider;
}
