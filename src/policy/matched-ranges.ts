import { joinOverlapping } from './detectors/join-overlapping.ts';
import type { Facts } from './facts.ts';
import { matchesOfRule } from './redact/redact.ts';
import type { CompiledRule } from './rules/compile-rule.ts';
import type { TextMatch } from './search/search-result.ts';

/** A part of a text, in UTF-16 code units. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** A hostile request matches in each of its texts, and everywhere in them. */
const maxPointers = 100;
const maxRanges = 100;

/**
 * The ranges that a rule matches in each text of a request, at most 100 a text, in order and without overlap, keyed by
 * the text's pointer. Texts inside texts have none, since an offset in them is none in the text that their pointer names.
 */
export function matchedRanges(rule: CompiledRule, facts: Facts): ReadonlyMap<string, readonly TextRange[]> {
  const found = new Map<string, readonly TextRange[]>();
  for (const match of matchesOfRule(rule, facts)) {
    const { document, entry, outer, isDecoded } = (match.before ?? match.segment).place;
    if (outer !== undefined || isDecoded === true || document.isKey(entry)) continue;
    const pointer = document.pointer(entry);
    const known = found.get(pointer) ?? [];
    if (known.length >= maxRanges || (known.length === 0 && found.size >= maxPointers)) continue;
    const ranges = joinOverlapping([...known, ...rangesOf(match, rule, facts)]).slice(0, maxRanges);
    if (ranges.length > 0) found.set(pointer, ranges);
  }
  return found;
}

function rangesOf(match: TextMatch, { except }: CompiledRule, facts: Facts): readonly TextRange[] {
  const { place } = match.before ?? match.segment;
  const { length } = facts.texts.at(place).text;
  const texts = match.before === undefined ? [facts.texts.at(place)] : facts.texts.joined(match);
  return (
    texts
      .flatMap((text) => text.rangesOutside(facts.pattern(match.pattern), except))
      // Across texts: what begins in the later one is that text's.
      .filter(({ start, end }) => start < length && (match.before === undefined || end > length))
      .map(({ start, end }) => ({ start, end: Math.min(end, length) }))
  );
}
