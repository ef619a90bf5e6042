import type { Role } from '../../dialects/dialect.ts';
import { type JsonDocument, kinds } from '../../json/json-document.ts';
import { parseStrictJson } from '../../json/strict-json.ts';

/** Roles as bits, so that a text can be of several. */
export const roleBits = {
  system: 1,
  user: 2,
  assistant: 4,
  tool_result: 8,
  tool_definition: 16,
} as const satisfies Record<Role, number>;

export const roleNames = Object.keys(roleBits) as readonly Role[];

/** Texts whose role can't be determined have every role, so that no rule can be evaded through an unexpected field. */
export const everyRole = 31;

export function bitsOf(roles: readonly Role[]): number {
  return roles.reduce((bits, role) => bits | roleBits[role], 0);
}

/** The place of a text: an entry of the request, or of a document nested in one of its texts. */
export interface Place {
  readonly document: JsonDocument;
  readonly entry: number;
  /** The text that this document was parsed from. */
  readonly outer?: Place;
  /** Set if the bytes had to be decoded in a way that can't be undone in place. */
  readonly isDecoded?: true;
  /** Set if only escapes were decoded: readers see what the outer text says as well. */
  readonly isUnescaped?: true;
}

/** The position of a text in the conversation: hosts may put markup between blocks, turns, or turns of two roles. */
export interface Unit {
  /** The same for all. */
  readonly all: 0;
  readonly block: number;
  readonly turn: number;
  /** The first of the consecutive turns of one role. */
  readonly run: number;
}

/** One text of a request, to be read together with those around it. */
export interface Segment {
  readonly place: Place;
  readonly roles: number;
  /** Set if only some hosts render it: the name of everything that they leave out with it. */
  readonly optional: string | undefined;
  readonly unit: Unit;
}

export function textOf({ document, entry }: Place): string {
  return document.text(entry);
}

/** The place in the request itself that holds this one. */
export function placeInRequest(place: Place): Place {
  let at = place;
  while (at.outer !== undefined) at = at.outer;
  return at;
}

/** A text as the only member of a document. */
export function wrapText(text: string): JsonDocument {
  return parseStrictJson(Buffer.from(`{"":${JSON.stringify(text)}}`));
}

/** Of an event's own texts, keys and numbers can't be rewritten. */
export function isFixedInEvent({ document, entry }: Place): boolean {
  return document.isKey(entry) || document.kind(entry) !== kinds.string;
}
