import type { JsonDocument } from '../../json/json-document.ts';
import type { Facts } from '../facts.ts';
import type { Match } from '../rule.ts';
import { placeInRequest, textOf } from '../traverse/place.ts';
import type { TextMatch } from './findings.ts';
import { findRanges } from './patterns.ts';

/** Most places that are named in a decision; the count goes on. */
const placeLimit = 32;
// Counting reads the text again; in very long ones "at least once" does.
const countedLength = 65_536;

/** Occurrences as matches, one for each text of the request, in the order of the request. */
export function matchesAt(matches: readonly TextMatch[], facts: Facts): readonly Match[] {
  const byEntry = new Map<number, TextMatch[]>();
  for (const match of matches) {
    const { entry } = placeInRequest(match.segment.place);
    const same = byEntry.get(entry);
    if (same === undefined) byEntry.set(entry, [match]);
    else same.push(match);
  }
  return [...byEntry]
    .sort(([one], [other]) => one - other)
    .slice(0, placeLimit)
    .map(([entry, same]) => ({
      at: pointerTo(facts.subject.document, entry),
      view: same.some(({ view }) => view === 'exact') ? 'exact' : viewOf(same, facts),
      matcher: 'text',
      count: same.reduce((count, match) => count + countRanges(match, facts), 0),
    }));
}

/** The automaton for folded text sees what is there exactly, too. */
function viewOf(matches: readonly TextMatch[], facts: Facts): 'exact' | 'folded' {
  const isExact = matches.some(({ pattern, segment }) => {
    const sought = facts.pattern(pattern);
    if (sought.kind !== 'phrase') return false;
    return textOf(segment.place).includes(sought.text);
  });
  return isExact ? 'exact' : 'folded';
}

function countRanges({ pattern, segment, before, view }: TextMatch, facts: Facts): number {
  const { document, entry } = segment.place;
  if (before !== undefined || document.end(entry) - document.start(entry) > countedLength) return 1;
  const ranges = findRanges(facts.pattern(pattern), textOf(segment.place), facts.fold);
  const sameView = ranges.filter((range) => range.view === view).length;
  return Math.max(1, sameView);
}

/** Where a text stands. Of a key that is the object it stands in: the key itself is what must not be told. */
function pointerTo(document: JsonDocument, entry: number): string {
  const pointer = document.pointer(entry);
  return document.isKey(entry) ? pointer.slice(0, pointer.lastIndexOf('/')) : pointer;
}
