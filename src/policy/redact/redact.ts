import { shownPlace } from '../../dialects/place-names.ts';
import { replaceTexts } from '../../json/byte-edits.ts';
import type { JsonDocument } from '../../json/json-document.ts';
import type { NamedPattern, Pattern } from '../automaton/patterns.ts';
import type { Range } from '../detectors/detector.ts';
import type { RuleInputs } from '../rule-inputs.ts';
import type { CompiledRule } from '../rules/compile-rule.ts';
import type { Piece, SearchResult, TextMatch } from '../search/search-result.ts';
import type { ViewedTexts } from '../search/viewed-text.ts';
import { type Place, textOf } from '../traverse/place.ts';
import { createRedactable } from './redactable.ts';

/** Replaces a key in a pointer that must not be disclosed. */
const hidden = '*';

/** Removes from JSON pointers what a record must not repeat. */
export type HidePointer = (pointer: string) => string;

/** Hides keys that rules match, and all that no dialect knows: those are content. */
export function createPointerHider(found: SearchResult): HidePointer {
  const hide = createMatchedKeyHider(found);
  return (pointer) => shownPlace(hide(pointer));
}

/**
 * A pointer contains object keys, and a key may itself be a text that a rule matches: such keys are masked, whichever rule
 * found them and whichever rule's place is shown.
 */
export function createMatchedKeyHider({ matches }: SearchResult): HidePointer {
  const names = new Set<string>();
  for (const found of matches.values()) {
    for (const { segment } of found) {
      const { document, entry, outer } = segment.place;
      if (outer !== undefined || !document.isKey(entry)) continue;
      names.add(document.text(entry).replaceAll('~', '~0').replaceAll('/', '~1'));
    }
  }
  if (names.size === 0) return (pointer) => pointer;
  return (pointer) =>
    pointer
      .split('/')
      .map((step) => (names.has(step) ? hidden : step))
      .join('/');
}

export interface Replacement extends Range {
  readonly label: string;
  /** Set if the text becomes a placeholder of its own, in place of the label. */
  readonly mask?: Mask | undefined;
}

/** Returns the placeholder of a value. */
export type Mask = (value: string) => string;

/** Everything that a rule's conditions on texts found. */
export function matchesOfRule(rule: CompiledRule, inputs: RuleInputs): readonly TextMatch[] {
  return (rule.when ?? []).flatMap((condition) => condition.text?.find(inputs) ?? []);
}

interface RedactedMatch {
  readonly match: TextMatch;
  readonly pattern: Pattern;
  readonly texts: ViewedTexts;
  readonly except: readonly NamedPattern[];
  readonly label: string;
  readonly mask?: Mask | undefined;
}

interface PlacedReplacement extends Replacement {
  readonly entry: number;
}

/** The planned replacements by document and entry, for texts of the request and texts nested in those. */
export class Plan {
  readonly #root: JsonDocument;
  readonly #isFixed: (place: Place) => boolean;
  readonly #replacements = new Map<JsonDocument, PlacedReplacement[]>();
  /**
   * Documents parsed from a text of another, if they have something to replace; by the outer document and the text's
   * entry.
   */
  readonly #inner = new Map<JsonDocument, Map<number, JsonDocument>>();

  /** `isFixed` decides what must not be changed; by default what would break a request. */
  constructor(root: JsonDocument, isFixed = whatBreaks(root)) {
    this.#root = root;
    this.#isFixed = isFixed;
  }

  /** Plans the replacement of one match; returns the place that must not be changed, if there is one. */
  add({ match, pattern, texts, except, label, mask }: RedactedMatch): Place | undefined {
    const { segment, before, pieces } = match;
    if (pieces !== undefined) return this.#addPieces(pieces, { label, mask });
    if (before === undefined) {
      if (this.#isFixed(segment.place)) return segment.place;
      const ranges = texts.at(segment.place).rangesOutside(pattern, except);
      for (const [start, end] of widest(ranges)) this.#replace(segment.place, { start, end, label, mask });
      return undefined;
    }
    if (this.#isFixed(before.place)) return before.place;
    if (this.#isFixed(segment.place)) return segment.place;
    for (const across of texts.joined(match, pattern, except).across)
      this.#addPieces(across, { label, mask });
    return undefined;
  }

  /** Plans the replacement of a value that is spread over texts; each piece of a masked one is a value of its own. */
  #addPieces(
    pieces: readonly Piece[],
    { label, mask }: Pick<Replacement, 'label' | 'mask'>,
  ): Place | undefined {
    const fixed = pieces.find(({ segment }) => this.#isFixed(segment.place));
    if (fixed !== undefined) return fixed.segment.place;
    for (const [at, { segment, start, end }] of pieces.entries()) {
      this.#replace(segment.place, { start, end, label: at === 0 ? label : '', mask });
    }
    return undefined;
  }

  get isEmpty(): boolean {
    return this.#replacements.size === 0;
  }

  apply(): Buffer {
    return this.#rebuild(this.#root);
  }

  /** The texts of the document that change, by their entries. */
  texts(): ReadonlyMap<number, string> {
    return this.#textsOf(this.#root);
  }

  #replace({ document, entry, outer }: Place, { start, end, label, mask }: Replacement): void {
    let replacements = this.#replacements.get(document);
    if (replacements === undefined) {
      replacements = [];
      this.#replacements.set(document, replacements);
      if (outer !== undefined) this.#note(document, outer);
    }
    replacements.push({ entry, start, end, label, mask });
  }

  /** Changing a document nested in a text changes that text, and so on outwards. */
  #note(document: JsonDocument, { document: outer, entry, outer: further }: Place): void {
    const inner = this.#inner.get(outer) ?? new Map<number, JsonDocument>();
    this.#inner.set(outer, inner.set(entry, document));
    if (further !== undefined) this.#note(outer, further);
  }

  #rebuild(document: JsonDocument): Buffer {
    return replaceTexts(document, this.#textsOf(document));
  }

  #textsOf(document: JsonDocument): ReadonlyMap<number, string> {
    const texts = new Map<number, string>();
    const replacements = sortedByEntry(this.#replacements.get(document) ?? []);
    let from = 0;
    while (from < replacements.length) {
      const { entry } = replacements[from] as PlacedReplacement;
      let end = from + 1;
      while (replacements[end]?.entry === entry) end += 1;
      texts.set(entry, applyReplacements(textOf({ document, entry }), replacements.slice(from, end)));
      from = end;
    }
    for (const [entry, inner] of this.#inner.get(document) ?? []) {
      // The inner document is the text wrapped in `{"":` and `}`.
      texts.set(entry, this.#rebuild(inner).toString('utf8').slice(4, -1));
    }
    return texts;
  }
}

/** Sorted in document order; they usually are already, and there may be tens of thousands. */
function sortedByEntry<Placed extends { readonly entry: number }>(
  placed: readonly Placed[],
): readonly Placed[] {
  for (let at = 1; at < placed.length; at += 1) {
    if ((placed[at - 1] as Placed).entry <= (placed[at] as Placed).entry) continue;
    return placed.toSorted((one, other) => one.entry - other.entry);
  }
  return placed;
}

/** The longest range from each start: both views report most ranges. Most texts have one. */
function widest(ranges: readonly Range[]): Iterable<readonly [start: number, end: number]> {
  const [only] = ranges;
  if (only !== undefined && ranges.length === 1) return [[only.start, only.end]];
  const ends = new Map<number, number>();
  for (const { start, end } of ranges) ends.set(start, Math.max(end, ends.get(start) ?? end));
  return ends;
}

function whatBreaks(root: JsonDocument): (place: Place) => boolean {
  const isRedactable = createRedactable(root);
  return (place) => !isRedactable(place);
}

/** Replacements that overlap become one, under the name of the first; masked only if all of them are. */
export function applyReplacements(text: string, replacements: readonly Replacement[]): string {
  const [only] = replacements;
  if (only !== undefined && replacements.length === 1) return replaced(text, 0, only) + text.slice(only.end);
  let result = '';
  let at = 0;
  let open: Replacement | undefined;
  for (const replacement of [...replacements].sort(
    (one, other) => one.start - other.start || other.end - one.end,
  )) {
    if (open !== undefined && replacement.start < open.end) {
      open = joined(open, replacement);
      continue;
    }
    if (open !== undefined) {
      result += replaced(text, at, open);
      at = open.end;
    }
    open = replacement;
  }
  return open === undefined ? text : result + replaced(text, at, open) + text.slice(open.end);
}

/** Two that overlap, the first of which begins no later. */
function joined(first: Replacement, second: Replacement): Replacement {
  const isMasked = first.mask !== undefined && second.mask !== undefined;
  if (second.end <= first.end && (isMasked || first.mask === undefined)) return first;
  const label = first.mask === undefined || isMasked ? first.label : second.label;
  return { ...first, end: Math.max(first.end, second.end), label, mask: isMasked ? first.mask : undefined };
}

/** The text from a position to the end of a replacement. */
function replaced(text: string, from: number, { start, end, label, mask }: Replacement): string {
  return text.slice(from, start) + (mask === undefined ? label : mask(text.slice(start, end)));
}

/** Whether one of the others holds all of it. */
export function liesWithin({ start, end }: Replacement, others: readonly Replacement[]): boolean {
  return others.some((other) => other.start <= start && other.end >= end);
}
