import { partitionPoint } from '../../lib/partition-point.ts';
import type { Mark, RuleDetail, TextRange } from '../contract/exchange-detail.ts';
import { decodeString, locate } from './locate.ts';

/** A place to mark: the value at a pointer, or ranges of the text there. */
export interface WantedMark {
  readonly kind: 'match' | 'dropped';
  readonly at: string;
  readonly rule?: string;
  /** In the decoded text, in UTF-16 code units. */
  readonly ranges?: readonly TextRange[] | undefined;
}

/** A hostile body matches everywhere, and by every rule. */
const maxMarks = 1_000;
const maxCandidates = 10_000;

/** What rules matched or left out, in order and without overlap. */
export function findMarks(text: string, wanted: readonly WantedMark[]): readonly Mark[] {
  const values = locate(
    text,
    wanted.map(({ at }) => at),
  );
  const marks: Mark[] = [];
  for (const { ranges, ...place } of wanted) {
    const value = place.at === '' ? undefined : values.get(place.at);
    if (value === undefined) continue;
    for (const range of rangesInJson(text, value, ranges)) marks.push({ ...range, ...place });
  }
  return withoutOverlap(marks);
}

/** In order; of marks that overlap, the first one is kept. */
export function withoutOverlap(marks: readonly Mark[]): readonly Mark[] {
  const kept: Mark[] = [];
  for (const mark of marks.slice(0, maxCandidates)) {
    if (kept.length >= maxMarks) break;
    if (kept.every(({ start, end }) => mark.end <= start || mark.start >= end)) kept.push(mark);
  }
  return kept.sort((one, other) => one.start - other.start);
}

/** Ranges of a string's text as ranges of the JSON that it is written in; the whole value if it has no text. */
function rangesInJson(
  json: string,
  value: TextRange,
  ranges: readonly TextRange[] | undefined,
): readonly TextRange[] {
  if (ranges === undefined || json[value.start] !== '"') return [value];
  const found: TextRange[] = [];
  let at = value.start + 1;
  let decoded = 0;
  const advanceTo = (offset: number) => {
    for (; decoded < offset && at < value.end - 1; decoded += 1) at += lengthOfUnit(json, at);
    return at;
  };
  for (const { start, end } of ranges) {
    const range = { start: advanceTo(start), end: advanceTo(end) };
    if (range.end > range.start) found.push(range);
  }
  return found.length === 0 ? [value] : found;
}

/** How many characters one UTF-16 code unit of a string takes in JSON. */
function lengthOfUnit(json: string, at: number): number {
  if (json[at] !== '\\') return 1;
  return json[at + 1] === 'u' ? 6 : 2;
}

const labelStart = '[REDACTED:';
const label = /\[REDACTED:([a-z0-9][a-z0-9._-]{0,63})\]/g;

/**
 * What rules replaced in a body that was sent: the labels in its strings. Not in a string that came like that, because a
 * conversation repeats what it was answered. It needs no pointers, so it works for a translated body too.
 */
export function findRedactions(
  sent: string,
  received: string,
  rules: readonly RuleDetail[],
): readonly Mark[] {
  const redacting = rulesThat('redact', rules);
  if (redacting.length === 0) return [];
  const came = new Set(labelledStrings(received).map(({ text }) => text));
  return labelledStrings(sent)
    .filter(({ text }) => !came.has(text))
    .flatMap(({ json, start }) => labelsIn(json, start, redacting))
    .slice(0, maxMarks);
}

/** The enforced rules with this action that matched. */
export function rulesThat(does: 'mask' | 'redact', rules: readonly RuleDetail[]): readonly RuleDetail[] {
  return rules.filter(({ action, mode, matched }) => matched && action === does && mode === 'enforce');
}

/** How deep a text may be inside JSON strings. */
const deepest = 4;

type FindTexts = (body: string) => readonly Mark[];

/**
 * Finds some texts in bodies, as they are or as they are written in JSON; of those that begin at one place the longest.
 * One pass over a body, however many texts there are: nearly all places end at the first two characters, and the others
 * are looked up in the order of the alphabet.
 */
export function createTextFinder(texts: readonly string[], as: Pick<Mark, 'kind' | 'rule'>): FindTexts {
  const sorted = [...new Set(texts.flatMap(spellings))].filter((text) => text !== '').sort();
  const beginnings = new Set(sorted.map((text) => text.slice(0, 2)));
  const shorter = longestPrefixes(sorted);
  const longestAt = (body: string, start: number): string | undefined => {
    if (!beginnings.has(body.slice(start, start + 2)) && !beginnings.has(body[start] as string))
      return undefined;
    const isBefore = (text: string) => text <= body.slice(start, start + text.length);
    let at = partitionPoint(sorted.length, (index) => isBefore(sorted[index] as string)) - 1;
    while (at >= 0 && !body.startsWith(sorted[at] as string, start)) at = shorter[at] as number;
    return sorted[at];
  };
  return (body) => {
    const found: Mark[] = [];
    for (let start = 0; start < body.length && sorted.length > 0 && found.length < maxMarks; ) {
      const text = longestAt(body, start);
      if (text !== undefined) found.push({ ...as, start, end: start + text.length });
      start += text?.length ?? 1;
    }
    return found;
  };
}

/** For each of the sorted texts the index of the longest one that it begins with, or -1. */
function longestPrefixes(sorted: readonly string[]): readonly number[] {
  const prefixes: number[] = [];
  for (const [index, text] of sorted.entries()) {
    let at = index - 1;
    while (at >= 0 && !text.startsWith(sorted[at] as string)) at = prefixes[at] as number;
    prefixes.push(at);
  }
  return prefixes;
}

function spellings(text: string): readonly string[] {
  const all = [text];
  while (all.length <= deepest) all.push(JSON.stringify(all.at(-1)).slice(1, -1));
  return [...new Set(all)];
}

function labelsIn(json: string, offset: number, rules: readonly RuleDetail[]): readonly Mark[] {
  return [...json.matchAll(label)].map(({ 0: whole, 1: reason, index }) => {
    const ids = new Set(
      rules.filter((rule) => rule.reason === undefined || rule.reason === reason).map(({ rule }) => rule),
    );
    const start = offset + index;
    const rule = ids.size === 0 ? {} : { rule: [...ids].join(', ') };
    return { kind: 'redacted', start, end: start + whole.length, ...rule };
  });
}

interface LabelledString {
  /** As it is written, with its quotes. */
  readonly json: string;
  readonly text: string;
  readonly start: number;
}

/** A string as it is written; the last one may be cut at the end of what is shown. */
const string = /"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)/gs;

function labelledStrings(body: string): readonly LabelledString[] {
  const found: LabelledString[] = [];
  // A text may be all quotes.
  for (const { 0: json, index: start } of body.includes(labelStart) ? body.matchAll(string) : []) {
    if (json.includes(labelStart)) found.push({ json, text: decodeString(json), start });
  }
  return found;
}
