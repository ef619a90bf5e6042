import { RE2JS } from 're2js';
import type { AnchoredRegex, Confidence, Detector } from '../detectors/detector.ts';
import type { Fold } from '../fold/fold.ts';
import type { Limits, TextView } from './byte-reader.ts';
import { Nfa } from './nfa.ts';
import { Scanner } from './scanner.ts';

/** Something to search for in texts. */
export type Pattern =
  | { readonly kind: 'phrase'; readonly text: string; readonly folded?: readonly string[] }
  | { readonly kind: 'regex'; readonly exact: RE2JS; readonly folded?: RE2JS }
  | {
      readonly kind: 'detector';
      readonly name: string;
      readonly confidence: Confidence;
      readonly detector: Detector;
    };

/** A pattern under a name that is the same for the same thing in every rule. */
export interface NamedPattern {
  readonly key: string;
  readonly pattern: Pattern;
}

/**
 * Most instructions that one pattern may compile to. Large counted repetitions multiply the automaton's states: together
 * with the detectors, `.{0,100}word` makes 1 MB of prose take eight times as long, `.{0,400}word` forty times.
 */
const regexLimit = 250;
/** Most that all patterns and letters of phrases of one set may have together. */
export const setLimit = 60_000;

type Compiled<T> = { readonly value: T } | { readonly problem: string };

/** A pattern in RE2's syntax; for the folded view it is compiled a second time, without regard to case. */
export function compileRegex(source: string, match: TextView): Compiled<Pattern> {
  try {
    const exact = RE2JS.compile(source);
    if (exact.programSize() > regexLimit) {
      return { problem: `the pattern is too large: ${exact.programSize()} steps, at most ${regexLimit}` };
    }
    if (exact.test(''))
      return { problem: 'the pattern matches the empty text, so it would match everything' };
    if (match === 'exact') return { value: { kind: 'regex', exact } };
    return { value: { kind: 'regex', exact, folded: RE2JS.compile(source, RE2JS.CASE_INSENSITIVE) } };
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    return { problem: `not a pattern in RE2's syntax (which is what keeps matching fast): ${detail}` };
  }
}

export function compilePhrase(text: string, match: TextView, fold: Fold): Compiled<Pattern> {
  if (text.trim() === '') return { problem: 'the phrase is blank' };
  if (match === 'exact') return { value: { kind: 'phrase', text } };
  // Some letters are two in the other case.
  const forms = [text, text.toUpperCase(), text.toLowerCase()].map((form) => fold.text(form));
  const folded = [...new Set(forms)];
  if (forms.some((form) => form.trim() === '')) {
    return { problem: 'the phrase is empty in the folded view; use match: exact' };
  }
  return { value: { kind: 'phrase', text, folded } };
}

/** Adds a phrase or an expression in its form for folded text. */
export function addFolded(nfa: Nfa, pattern: Pattern, number: number): void {
  if (pattern.kind === 'phrase' && pattern.folded !== undefined) {
    for (const form of pattern.folded) nfa.addPhrase(form, number);
  }
  if (pattern.kind === 'regex' && pattern.folded !== undefined) nfa.addRegex(pattern.folded, number);
}

/** All patterns of a set, and the automata that search for all of them in one pass. */
export interface PatternSet {
  readonly patterns: readonly Pattern[];
  readonly scanner: Scanner;
  readonly fold: Fold;
  /** Detectors that have to see every text. */
  readonly always: readonly number[];
  /** Detectors that have to see every text with a long run. */
  readonly longRuns: readonly number[];
  /** Whether a service is asked about texts. */
  readonly asks: boolean;
  /** Of a detector that is sought with less certainty too, the number of that pattern, which finds all that it does. */
  readonly wider: ReadonlyMap<number, number>;
}

/** Compiles patterns into two automata, one for each view; for a detector, its prefilter. */
export function compilePatternSet(patterns: readonly Pattern[], fold: Fold, limits: Limits = {}): PatternSet {
  const exact = new Nfa();
  const folded = new Nfa();
  const always: number[] = [];
  const longRuns: number[] = [];
  let asks = false;
  const prefilters: (readonly [string | AnchoredRegex, number])[] = [];
  for (const [number, pattern] of patterns.entries()) {
    addFolded(folded, pattern, number);
    if (pattern.kind === 'phrase') {
      // The folded view also finds exact occurrences.
      if (pattern.folded === undefined) exact.addPhrase(pattern.text, number);
    } else if (pattern.kind === 'regex') {
      exact.addRegex(pattern.exact, number);
    } else {
      const { prefilter } = pattern.detector;
      if (prefilter.kind === 'asked') asks = true;
      else if (prefilter.kind === 'always') always.push(number);
      else if (prefilter.kind === 'literals') {
        for (const literal of prefilter.literals) folded.addPhrase(fold.text(literal), number);
      } else {
        if (prefilter.orLongRun) longRuns.push(number);
        for (const regex of prefilter.regexes) prefilters.push([regex, number]);
      }
    }
  }
  // The folded view is in lower case, as these are: compiled without regard to case they would dominate start-up, and so
  // would hundreds of anchors as one expression.
  for (const [regex, number] of prefilters) {
    if (typeof regex === 'string') folded.addPrefilter(RE2JS.compile(regex), number);
    else folded.addPrefilter(RE2JS.compile(regex.tail), number, regex);
  }
  const scanner = new Scanner({ exact, folded, fold, longRuns }, limits);
  return { patterns, scanner, fold, always, longRuns, asks, wider: findWider(patterns) };
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
