import type { View } from '../automaton/found-patterns.ts';
import type { Place, Segment } from '../traverse/place.ts';
import type { UnseenKind } from '../traverse/unseen.ts';

/** A pattern in a text; `before` is set where it begins in an earlier text of the same sequence. */
export interface TextMatch {
  readonly pattern: number;
  readonly view: View;
  readonly segment: Segment;
  readonly before?: Segment;
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
}

/** Most matches kept per pattern; redaction needs all of them, so it refuses beyond that. */
export const matchLimit = 10_000;
