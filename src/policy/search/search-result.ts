import type { TextView } from '../automaton/byte-reader.ts';
import type { Range } from '../detectors/detector.ts';
import type { Place, Segment } from '../traverse/place.ts';
import type { UnseenKind } from '../traverse/unseen.ts';

/** A part of a text of a sequence, in UTF-16 units. */
export interface Piece extends Range {
  readonly segment: Segment;
}

/** A pattern in a text; `before` is set where it is only found together with an earlier text of the same sequence. */
export interface TextMatch {
  readonly pattern: number;
  readonly view: TextView;
  readonly segment: Segment;
  readonly before?: Segment;
  /** All of what a detector found in texts that were joined; other patterns are sought again. */
  readonly pieces?: readonly Piece[];
}

/** Content that can't be looked into. */
export interface Unseen {
  readonly kind: UnseenKind;
  readonly place: Place;
}

/** Numbers in place of text. */
export interface Unreadable {
  readonly place: Place;
  readonly roles: number;
}

/** Everything that one walk over a document found. */
export interface SearchResult {
  /** By number of the pattern. */
  readonly matches: ReadonlyMap<number, readonly TextMatch[]>;
  readonly unseen: readonly Unseen[];
  readonly unreadable: readonly Unreadable[];
  /** The texts that a service is asked about, in reading order; none where no rule asks one. */
  readonly conversation: readonly Segment[];
}
