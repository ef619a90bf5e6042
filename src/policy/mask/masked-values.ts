import { formOf } from './forms.ts';
import { patternsOf, replacePlaceholders } from './placeholder-patterns.ts';

/** The values that a request held, by their placeholders: plain data, so that another thread can send it. */
export type MaskedValues = ReadonlyMap<string, string>;

/**
 * The values of two passes together: the second may have masked a text with placeholders of the first. Undefined if two
 * values have the same placeholder.
 */
export function joinValues(first: MaskedValues, second: MaskedValues): MaskedValues | undefined {
  if (first.size === 0) return second;
  const joined = new Map(first);
  const patterns = patternsOf(first.keys());
  for (const [placeholder, masked] of second) {
    const value = replacePlaceholders(patterns, masked, (found) => first.get(found));
    if ((joined.get(placeholder) ?? value) !== value) return undefined;
    joined.set(placeholder, value);
  }
  return joined;
}

/** How many values of each kind. */
export function countKinds(masked: MaskedValues): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const placeholder of masked.keys()) {
    const { kind } = formOf(placeholder);
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}
