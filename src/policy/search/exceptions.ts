import type { NamedPattern } from '../matchers/matcher.ts';
import { textOf } from '../traverse/place.ts';
import type { TextMatch } from './findings.ts';
import type { Fold } from './fold.ts';
import { partitionPoint } from './partition-point.ts';
import { findRanges, type MatchRange, type Pattern } from './patterns.ts';

/** What has to be known of the patterns that were looked for. */
interface Known {
  pattern(number: number): Pattern;
  readonly fold: Fold;
}

/** The matches that have a stretch outside all exceptions. */
export function withoutExcepted(
  matches: readonly TextMatch[],
  except: readonly NamedPattern[],
  known: Known,
): readonly TextMatch[] {
  if (except.length === 0) return matches;
  const { fold } = known;
  const patterns = except.map(({ pattern }) => pattern);
  return matches.filter((match) => {
    const pattern = known.pattern(match.pattern);
    const texts = textsOf(match);
    // Spread over more than two texts, it can't be shown to be excepted.
    const isWhole =
      match.before === undefined || texts.some((text) => findRanges(pattern, text, fold).length > 0);
    return !isWhole || texts.some((text) => rangesOutside(pattern, patterns, text, fold).length > 0);
  });
}

/** The stretches of a pattern in a text that don't lie within a stretch of an exception. */
export function rangesOutside(
  pattern: Pattern,
  except: readonly Pattern[],
  text: string,
  fold: Fold,
): readonly MatchRange[] {
  const ranges = findRanges(pattern, text, fold);
  if (except.length === 0) return ranges;
  if (ranges.length === 0) return ranges;
  const isExcepted = createWithin(except.flatMap((each) => findRanges(each, text, fold)));
  return ranges.filter((range) => !isExcepted(range));
}

type Stretch = Pick<MatchRange, 'start' | 'end'>;

/** Tells whether one of some stretches holds all of another; a text may have tens of thousands of either. */
function createWithin(stretches: readonly Stretch[]): (stretch: Stretch) => boolean {
  const sorted = [...stretches].sort((one, other) => one.start - other.start);
  // How far those reach that begin no later than each.
  const reaches = new Int32Array(sorted.length);
  let reach = 0;
  for (const [at, { end }] of sorted.entries()) {
    reach = Math.max(reach, end);
    reaches[at] = reach;
  }
  return ({ start, end }) => {
    const begun = partitionPoint(sorted.length, (at) => (sorted[at] as Stretch).start <= start);
    return begun > 0 && (reaches[begun - 1] as number) >= end;
  };
}

/** The text of an match; across a joint, the joined text in both ways. */
export function textsOf({ segment, before }: TextMatch): readonly string[] {
  const text = textOf(segment.place);
  if (before === undefined) return [text];
  return ['', ' '].map((separator) => textOf(before.place) + separator + text);
}
