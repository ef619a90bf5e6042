import type { Occurrence } from './findings.ts';
import type { NamedNeedle } from './matcher.ts';
import { textOf } from './place.ts';
import type { Fold } from './text/fold.ts';
import { findSpans, type Needle, type Span } from './text/needles.ts';

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
  const excepted = except.flatMap((each) => findSpans(each, text, fold));
  return spans.filter(({ start, end }) => !excepted.some((each) => each.start <= start && each.end >= end));
}

/** The text of an occurrence; across a joint, the joined text in both ways. */
export function textsOf({ piece, before }: Occurrence): readonly string[] {
  const text = textOf(piece.place);
  if (before === undefined) return [text];
  return ['', ' '].map((separator) => textOf(before.place) + separator + text);
}
