import type { Body, Mark } from '../contract/exchange-detail.ts';

/** How much of a body is shown, and searched for marks. */
export const shownBytes = 1024 * 1024;

type Scrub = (text: string) => string;

/** A body for display: as text, whatever it contains, with configured secrets masked and places marked. */
export function toBody(bytes: Buffer, scrub: Scrub, findMarks: (text: string) => readonly Mark[]): Body {
  const text = shownText(bytes, scrub);
  return { bytes: bytes.length, text, truncated: bytes.length > shownBytes, marks: findMarks(text) };
}

/** The part of a body that is shown. */
export function shownText(bytes: Buffer, scrub: Scrub): string {
  return scrub(bytes.subarray(0, shownBytes).toString());
}
