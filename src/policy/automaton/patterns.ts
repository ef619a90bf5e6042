import { RE2JS } from 're2js';
import type { Confidence, Detector } from '../detectors/detector.ts';
import type { Fold } from '../fold/fold.ts';
import type { View } from './found-patterns.ts';
import type { Nfa } from './nfa.ts';

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

export type Compiled<T> = { readonly value: T } | { readonly problem: string };

/** A pattern in RE2's syntax; for the folded view it is compiled a second time, without regard to case. */
export function compileRegex(source: string, match: View): Compiled<Pattern> {
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

export function compilePhrase(text: string, match: View, fold: Fold): Compiled<Pattern> {
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
    for (const form of pattern.folded) nfa.addPhrase(codePoints(form), number);
  }
  if (pattern.kind === 'regex' && pattern.folded !== undefined) nfa.addRegex(pattern.folded, number);
}

export function codePoints(text: string): readonly number[] {
  return Array.from(text, (each) => each.codePointAt(0) as number);
}
