import { memoize } from '../../lib/memoize.ts';
import {
  atomsOf,
  type Form,
  formWithHead,
  hasLetters,
  isWordForm,
  lengthOf,
  literal,
  patternOf,
  wordForm,
} from './forms.ts';

/** So many letters of a placeholder are no coincidence. */
export const tellingLetters = 6;

/** By what placeholders of some forms are recognized, whole and not. */
export interface PlaceholderPatterns {
  /** Matches what has one of the forms. */
  readonly whole: RegExp;
  /** Matches the beginning of one at the end of a text. */
  readonly beginning: RegExp;
  /** Matches what is left of one, in any case: what it began with, and the letters that follow. */
  readonly broken: RegExp;
  /** Matches JSON that may hold one, whole or not. */
  readonly inJson: RegExp;
  /** Matches the same, and a string that ends with the beginning of one. */
  readonly inJsonOrBegun: RegExp;
  /** Characters of the longest. */
  readonly maxLength: number;
}

/**
 * Calls back for what has one of the forms, until the end of a text. Where it says that this is no placeholder, one may
 * still begin within it: of digits, right behind another digit.
 */
export function findPlaceholders(
  { whole }: Pick<PlaceholderPatterns, 'whole'>,
  { text, from = 0 }: { readonly text: string; readonly from?: number },
  isPlaceholder: (found: string, start: number) => boolean,
): void {
  whole.lastIndex = from;
  for (let found = whole.exec(text); found !== null; found = whole.exec(text))
    if (!isPlaceholder(found[0], found.index)) whole.lastIndex = found.index + 1;
}

/** The text with all placeholders replaced whose value is known. */
export function replacePlaceholders(
  patterns: Pick<PlaceholderPatterns, 'whole'>,
  text: string,
  restore: (placeholder: string, start: number) => string | undefined,
): string {
  let replaced = '';
  let end = 0;
  findPlaceholders(patterns, { text }, (found, start) => {
    const value = restore(found, start);
    if (value === undefined) return false;
    replaced += text.slice(end, start) + value;
    end = start + found.length;
    return true;
  });
  return replaced + text.slice(end);
}

/** The patterns of the forms that begin with these. */
export function patternsOf(heads: Iterable<string>): PlaceholderPatterns {
  return patternsOfHeads([...new Set(heads)].sort().join(' '));
}

/** Most requests have the same few forms, and an answer's first event would wait for its patterns to be compiled. */
const patternsOfHeads = memoize((heads): PlaceholderPatterns => {
  const forms = heads.split(' ').filter(Boolean).map(formWithHead);
  const begun = beginningOf(forms);
  const broken = brokenOf(forms);
  return {
    whole: wholePattern(forms),
    beginning: new RegExp(`(?:${begun})$`),
    broken: new RegExp(broken, 'g'),
    inJson: new RegExp(`${escapedAscii}|${broken}`),
    inJsonOrBegun: new RegExp(`${escapedAscii}|(?:${begun})"|${broken}`),
    maxLength: Math.max(0, ...forms.map(lengthOf)),
  };
});

/** An escape that JSON does not require, with which a host may spell any letter of a placeholder. */
const escapedAscii = '\\\\u00[2-7]';

/** Matches what has one of these forms. */
export function wholePattern(forms: readonly Form[]): RegExp {
  // The longest first, since one may be the end or the beginning of another.
  const kinds = forms
    .filter(isWordForm)
    .map(({ kind }) => kind)
    .sort((one, other) => other.length - one.length);
  const words = kinds.length === 0 ? [] : [`(?:${kinds.join('|')})${patternOf(wordForm(''))}`];
  return new RegExp(any([...words, ...forms.filter((form) => !isWordForm(form)).map(patternOf)]), 'g');
}

function beginningOf(forms: readonly Form[]): string {
  return any(
    forms.map((form) =>
      atomsOf(form)
        .slice(0, -1)
        .reduceRight((rest, atom) => `${atom}(?:${rest})?`),
    ),
  );
}

/** The same letters in another case or behind other signs; the same digits in groups. */
function brokenOf(forms: readonly Form[]): string {
  const named = forms.filter(hasLetters).map(({ kind }) => anyCase(kind));
  const others = forms
    .filter((form) => !hasLetters(form))
    .map(({ head }) => anyCase(literal(head).replace('\\+', '\\+?')));
  return any([
    ...(named.length === 0 ? [] : [`(?:${named.join('|')})[^A-Za-z0-9]{1,3}[A-Za-z]{${tellingLetters},}`]),
    ...(others.length === 0 ? [] : [`(?:${others.join('|')})(?:[ .-]?[0-9]){${tellingLetters},}`]),
  ]);
}

function any(alternatives: readonly string[]): string {
  return alternatives.length === 0 ? '(?!)' : alternatives.join('|');
}

function anyCase(pattern: string): string {
  return pattern.replace(/[A-Z]/g, (letter) => `[${letter}${letter.toLowerCase()}]`);
}

export function withoutSigns(text: string): string {
  return text.replace(/[^A-Za-z0-9]/g, '').toUpperCase();
}
