import { RE2JS } from 're2js';
import type { Confidence, Detector, Finding, Range } from '../detectors/detector.ts';
import type { Fold } from './fold.ts';
import type { View } from './scanner.ts';

/** Something that is looked for in texts. */
export type Pattern =
  | { readonly kind: 'phrase'; readonly text: string; readonly match: View }
  | { readonly kind: 'regex'; readonly exact: RE2JS; readonly folded?: RE2JS }
  | {
      readonly kind: 'detector';
      readonly name: string;
      readonly confidence: Confidence;
      readonly detector: Detector;
    };

/**
 * Most instructions that one pattern may compile to. Wide counted repetitions multiply the automaton's states:
 * beside the detectors, `.{0,100}word` makes 1 MB of prose take eight times as long, `.{0,400}word` forty times.
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
  if (match === 'folded' && fold.text(text).text.trim() === '') {
    return { problem: 'nothing of the phrase is left in the folded view; use match: exact' };
  }
  return { value: { kind: 'phrase', text, match } };
}

/**
 * The folds of a phrase. A few letters look like one Latin letter when large and like another when small,
 * so that the fold of a word depends on its case.
 */
export function foldedForms(text: string, fold: Fold): readonly string[] {
  const capitalised = text.toLowerCase().replace(/(^|\s)\p{L}/gu, (letter) => letter.toUpperCase());
  const forms = [text, text.toLowerCase(), text.toUpperCase(), capitalised];
  return [...new Set(forms.map((form) => fold.text(form).text))];
}

/** A part of a text, and the view in which the pattern was there. */
export interface MatchRange extends Finding {
  readonly view: View;
}

/** Every place of a text where a pattern is, in units of the text as it came. */
export function findRanges(pattern: Pattern, text: string, fold: Fold): readonly MatchRange[] {
  const ranges: MatchRange[] = [];
  const exact = (found: readonly Finding[]) => {
    for (const finding of found) ranges.push({ ...finding, view: 'exact' });
  };
  const folded = (find: (text: string) => readonly Finding[]) => {
    const view = fold.text(text);
    for (const finding of find(view.text)) {
      if (finding.end <= finding.start) continue;
      const start = view.starts[finding.start] as number;
      const end = view.ends[finding.end - 1] as number;
      ranges.push({ ...finding, start, end, view: 'folded' });
    }
  };
  switch (pattern.kind) {
    case 'phrase':
      exact(findLiteral(text, pattern.text));
      if (pattern.match === 'folded') {
        folded((view) => foldedForms(pattern.text, fold).flatMap((form) => findLiteral(view, form)));
      }
      return ranges;
    case 'regex':
      exact(findRegex(pattern.exact, text));
      if (pattern.folded !== undefined) folded((view) => findRegex(pattern.folded as RE2JS, view));
      return ranges;
    case 'detector':
      exact(pattern.detector.find(text));
      if (pattern.detector.folded) folded((view) => pattern.detector.find(view));
      return ranges;
  }
}

function findLiteral(text: string, literal: string): readonly Range[] {
  const found: Range[] = [];
  for (let at = text.indexOf(literal); at >= 0; at = text.indexOf(literal, at + literal.length)) {
    found.push({ start: at, end: at + literal.length });
  }
  return found;
}

function findRegex(regex: RE2JS, text: string): readonly Range[] {
  const found: Range[] = [];
  const matcher = regex.matcher(text);
  while (matcher.find()) found.push({ start: matcher.start(), end: matcher.end() });
  return found;
}
