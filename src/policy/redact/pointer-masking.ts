import type { SearchResult } from '../search/search-result.ts';

/** Replaces a key in a pointer that must not be disclosed. */
const hidden = '*';

/** Removes from JSON pointers what a record must not repeat. */
export type MaskPointer = (pointer: string) => string;

/**
 * A pointer contains object keys, and a key may itself be a text that a rule matches: such keys are masked, whichever rule
 * found them and whichever rule's place is shown.
 */
export function createPointerMask({ matches }: SearchResult): MaskPointer {
  const names = new Set<string>();
  for (const found of matches.values()) {
    for (const { segment } of found) {
      const { document, entry, outer } = segment.place;
      if (outer !== undefined || !document.isKey(entry)) continue;
      names.add(document.text(entry).replaceAll('~', '~0').replaceAll('/', '~1'));
    }
  }
  if (names.size === 0) return (pointer) => pointer;
  return (pointer) =>
    pointer
      .split('/')
      .map((step) => (names.has(step) ? hidden : step))
      .join('/');
}
