import type { NamedNeedle } from '../matchers/matcher.ts';
import type { Occurrence } from '../search/findings.ts';
import type { Fold } from '../search/fold.ts';
import { findSpans, type Needle, type Span } from '../search/patterns.ts';
import { textOf } from '../traverse/place.ts';
import { partitionPoint } from './partition-point.ts';

/** What has to be known of the needles that were looked for. */
interface Known {
  needle(number: number): Needle;
  readonly fold: Fold;
}

/** The occurrences that have a stretch outside all exceptions. */
export function withoutExcepted(
  occurrences: readonly Occurrence[],
  except: readonly NamedNeedle[],
  known: Known,
): readonly Occurrence[] {
  if (except.length === 0) return occurrences;
  const { fold } = known;
  const needles = except.map(({ needle }) => needle);
  return occurrences.filter((occurrence) => {
    const needle = known.needle(occurrence.needle);
    const texts = textsOf(occurrence);
    // Spread over more than two texts, it can't be shown to be excepted.
    const isWhole =
      occurrence.before === undefined || texts.some((text) => findSpans(needle, text, fold).length > 0);
    return !isWhole || texts.some((text) => spansOutside(needle, needles, text, fold).length > 0);
  });
}

/** The stretches of a needle in a text that don't lie within a stretch of an exception. */
export function spansOutside(
  needle: Needle,
  except: readonly Needle[],
  text: string,
  fold: Fold,
): readonly Span[] {
  const spans = findSpans(needle, text, fold);
  if (except.length === 0) return spans;
  if (spans.length === 0) return spans;
  const isExcepted = createWithin(except.flatMap((each) => findSpans(each, text, fold)));
  return spans.filter((span) => !isExcepted(span));
}

type Stretch = Pick<Span, 'start' | 'end'>;

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

/** The text of an occurrence; across a joint, the joined text in both ways. */
export function textsOf({ piece, before }: Occurrence): readonly string[] {
  const text = textOf(piece.place);
  if (before === undefined) return [text];
  return ['', ' '].map((separator) => textOf(before.place) + separator + text);
}
