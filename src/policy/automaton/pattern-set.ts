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
      const prefilter = prefilterOf(pattern.detector);
      if (prefilter.isOpen) always.push(number);
      if (prefilter.opensForLongRuns) longRuns.push(number);
      for (const literal of prefilter.literals) folded.addPhrase(codePoints(fold.text(literal)), number);
      for (const regex of prefilter.regexes) prefilters.push([regex, number]);
    }
  }
  for (const [regex, number] of prefilters) folded.addPrefilter(regex, number);
  const scanner = new Scanner({ exact, folded, fold, patternCount: patterns.length, longRuns }, limits);
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

/**
 * What must occur in a text for a detector to run on it: literals in any case, regexes in the folded view, or nothing at
 * all. The automaton searches for it together with everything else, at no extra cost.
 */
interface Prefilter {
  readonly literals: readonly string[];
  readonly regexes: readonly RE2JS[];
  readonly isOpen: boolean;
  /** Whether a long run of characters that keys are made of is enough, too. */
  readonly opensForLongRuns: boolean;
}

function prefilterOf({ prefilter }: Detector): Prefilter {
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
