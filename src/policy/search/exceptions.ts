import type { NamedPattern, Pattern } from '../automaton/patterns.ts';
import type { TextMatch } from './search-result.ts';
import type { ViewedTexts } from './viewed-text.ts';

/** What has to be known of the patterns that were searched for. */
interface Known {
  pattern(number: number): Pattern;
  readonly texts: ViewedTexts;
}

/** The matches that have a range outside all exceptions. */
export function withoutExcepted(
  matches: readonly TextMatch[],
  except: readonly NamedPattern[],
  known: Known,
): readonly TextMatch[] {
  if (except.length === 0) return matches;
  return matches.filter((match) => {
    const pattern = known.pattern(match.pattern);
    if (match.before === undefined) {
      const text = known.texts.at(match.segment.place);
      // Few texts have an exception, and to search for one takes less than most detectors.
      if (except.every((each) => text.ranges(each.pattern).length === 0)) return true;
      return text.ranges(pattern).length === 0 || text.rangesOutside(pattern, except).length > 0;
    }
    // Spread over more than two texts, it can't be shown to be excepted.
    if (match.pieces !== undefined && match.pieces.length > 2) return true;
    const { isFound, adjacent, spaced } = known.texts.joinedRanges(match, pattern, except);
    return !isFound || adjacent.length > 0 || spaced.length > 0;
  });
}
