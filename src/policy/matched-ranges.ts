import type { Facts } from './facts.ts';
import { matchesOfRule } from './redact/redact.ts';
import type { CompiledRule } from './rules/compile-rule.ts';
import type { TextMatch } from './search/search-result.ts';

/** A part of a text, in UTF-16 code units. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** A hostile request matches in each of its texts. */
const maxPointers = 100;

/**
 * The first range that a rule matches in each text of a request, keyed by the text's pointer. Texts inside texts have
 * none, since an offset in them is none in the text that their pointer names.
 */
export function matchedRanges(rule: CompiledRule, facts: Facts): ReadonlyMap<string, TextRange> {
  const ranges = new Map<string, TextRange>();
  for (const match of matchesOfRule(rule, facts)) {
    if (ranges.size >= maxPointers) break;
    const { document, entry, outer, isDecoded } = (match.before ?? match.segment).place;
    if (outer !== undefined || isDecoded === true || document.isKey(entry)) continue;
    const pointer = document.pointer(entry);
    if (ranges.has(pointer)) continue;
    const range = firstRange(match, rule, facts);
    if (range !== undefined) ranges.set(pointer, range);
  }
  return ranges;
}

function firstRange(match: TextMatch, { except }: CompiledRule, facts: Facts): TextRange | undefined {
  const { place } = match.before ?? match.segment;
  const { length } = facts.texts.at(place).text;
  let first: TextRange | undefined;
  const texts = match.before === undefined ? [facts.texts.at(place)] : facts.texts.joined(match);
  for (const text of texts) {
    for (const { start, end } of text.rangesOutside(facts.pattern(match.pattern), except)) {
      // Across texts: what begins in the later one is that text's.
      const isLater = start >= length || (match.before !== undefined && end <= length);
      if (isLater || (first !== undefined && first.start <= start)) continue;
      first = { start, end: Math.min(end, length) };
    }
  }
  return first;
}
