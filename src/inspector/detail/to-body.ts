import type { Body, Mark } from '../contract/exchange-detail.ts';
import { locate } from './locate.ts';

/** How much of a body is shown, and searched for marks. */
export const shownBytes = 1024 * 1024;

/** A place to mark. */
export type WantedMark = Omit<Mark, 'start' | 'end'>;

/** A body for display: as text, whatever it contains, with configured secrets masked and places marked. */
export function toBody(
  bytes: Buffer,
  scrub: (text: string) => string,
  wanted: readonly WantedMark[] = [],
): Body {
  const text = shownText(bytes, scrub);
  return { bytes: bytes.length, text, truncated: bytes.length > shownBytes, marks: findMarks(text, wanted) };
}

/** The part of a body that is shown. */
export function shownText(bytes: Buffer, scrub: (text: string) => string): string {
  return scrub(bytes.subarray(0, shownBytes).toString());
}

/** In order and without overlap: of nested places, the first one in `wanted`. */
function findMarks(text: string, wanted: readonly WantedMark[]): readonly Mark[] {
  const ranges = locate(
    text,
    wanted.map(({ at }) => at),
  );
  const marks: Mark[] = [];
  for (const each of wanted) {
    const range = each.at === '' ? undefined : ranges.get(each.at);
    if (range === undefined) continue;
    const isFree = marks.every(({ start, end }) => range.end <= start || range.start >= end);
    if (isFree) marks.push({ ...range, ...each });
  }
  return marks.sort((one, other) => one.start - other.start);
}
