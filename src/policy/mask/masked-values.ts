import { partitionPoint } from '../../lib/partition-point.ts';
import { sortTexts } from '../../lib/sort-texts.ts';
import { formOf, formWithHead } from './forms.ts';
import { patternsOf, replacePlaceholders, tellingLetters, withoutSigns } from './placeholder-patterns.ts';

/**
 * The values that a request held, by their placeholders. Plain data, so that another thread can send it, and the same few
 * objects for a million values, so that the event loop's thread gets and looks up only what an answer holds.
 */
export interface MaskedValues {
  readonly size: number;
  /** Each placeholder and then its value, all of them one after the other. */
  readonly text: string;
  /** Where each of those ends. */
  readonly ends: Uint32Array;
  /** The numbers of the placeholders in the order of their letters. */
  readonly sorted: Uint32Array;
  /** How many there are of each form, by what it begins with. */
  readonly heads: Readonly<Record<string, number>>;
  /** Whether a value is written differently in JSON. */
  readonly hasEscaped: boolean;
  /** Those of a pass before. */
  readonly earlier?: MaskedValues;
}

/** Characters that JSON escapes in a string. */
const escaped = /["\\\u0000-\u001f]/;

/** The values of one pass over a request. */
export function collectValues(values: ReadonlyMap<string, string>): MaskedValues {
  const texts: string[] = [];
  const ends = new Uint32Array(values.size * 2);
  const heads: Record<string, number> = {};
  let end = 0;
  for (const [placeholder, value] of values) {
    ends[texts.length] = end += placeholder.length;
    ends[texts.length + 1] = end += value.length;
    texts.push(placeholder, value);
    const { head } = formOf(placeholder);
    heads[head] = (heads[head] ?? 0) + 1;
  }
  const sorted = sortTexts([...values.keys()]);
  const text = texts.join('');
  return { size: values.size, text, ends, sorted, heads, hasEscaped: escaped.test(text) };
}

export const noValues = collectValues(new Map());

/** All of them, in the order in which they were masked. */
export function* pairsOf(masked: MaskedValues): Generator<readonly [placeholder: string, value: string]> {
  for (const pass of passesOf(masked).reverse())
    for (let number = 0; number < pass.sorted.length; number += 1)
      yield [textAt(pass, number * 2), textAt(pass, number * 2 + 1)];
}

/** The value of a placeholder; undefined if the request had no such placeholder. */
export function findValue(masked: MaskedValues, placeholder: string): string | undefined {
  for (const pass of passesOf(masked)) {
    const number = firstFrom(pass, placeholder);
    if (number !== undefined && textAt(pass, number * 2) === placeholder) return textAt(pass, number * 2 + 1);
  }
  return undefined;
}

/** The kind of the placeholder that a text was before a model changed its signs, its case or its end; undefined if it was none. */
export function kindOfRest(masked: MaskedValues, text: string): string | undefined {
  const letters = withoutSigns(text);
  for (const pass of passesOf(masked)) {
    for (const head of Object.keys(pass.heads)) {
      const word = withoutSigns(head);
      const telling = letters.slice(word.length, word.length + tellingLetters);
      if (telling.length < tellingLetters || !letters.startsWith(word)) continue;
      const number = firstFrom(pass, head + telling);
      if (number !== undefined && textAt(pass, number * 2).startsWith(head + telling))
        return formWithHead(head).kind;
    }
  }
  return undefined;
}

/**
 * The values of two passes together: the second may have masked a text with placeholders of the first. Undefined if two
 * values have the same placeholder.
 */
export function joinValues(first: MaskedValues, second: MaskedValues): MaskedValues | undefined {
  if (second.size === 0) return first;
  if (first.size === 0) return second;
  const added = new Map<string, string>();
  const patterns = patternsOf(headsOf(first));
  for (const [placeholder, masked] of pairsOf(second)) {
    const value = replacePlaceholders(patterns, masked, (found) => findValue(first, found));
    const known = findValue(first, placeholder);
    if (known === undefined) added.set(placeholder, value);
    else if (known !== value) return undefined;
  }
  const more = collectValues(added);
  return { ...more, size: first.size + more.size, earlier: first };
}

/** What the placeholders begin with. */
export function headsOf(masked: MaskedValues): readonly string[] {
  return passesOf(masked).flatMap(({ heads }) => Object.keys(heads));
}

/** How many values of each kind. */
export function countKinds(masked: MaskedValues): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { heads } of passesOf(masked)) {
    for (const [head, count] of Object.entries(heads)) {
      const { kind } = formWithHead(head);
      counts[kind] = (counts[kind] ?? 0) + count;
    }
  }
  return counts;
}

/** Whether a value is written differently in JSON, so that it has to be known where it stands. */
export function hasEscapedValue(masked: MaskedValues): boolean {
  return passesOf(masked).some(({ hasEscaped }) => hasEscaped);
}

/** The arrays in it, whose memory can be transferred to another thread. */
export function arraysOf(masked: MaskedValues): readonly Uint32Array[] {
  return passesOf(masked).flatMap(({ ends, sorted }) => [ends, sorted]);
}

/** The last one first; there are as many as a request was redacted times. */
function passesOf(masked: MaskedValues): MaskedValues[] {
  return masked.earlier === undefined ? [masked] : [masked, ...passesOf(masked.earlier)];
}

/** The number of the first placeholder that doesn't come before a text in the order of letters. */
function firstFrom(pass: MaskedValues, text: string): number | undefined {
  const { sorted } = pass;
  const numberAt = (at: number) => sorted[at] as number;
  return sorted[partitionPoint(sorted.length, (at) => textAt(pass, numberAt(at) * 2) < text)];
}

function textAt({ text, ends }: MaskedValues, at: number): string {
  return text.slice(at === 0 ? 0 : ends[at - 1], ends[at]);
}
