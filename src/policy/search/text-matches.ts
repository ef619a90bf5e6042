import type { JsonDocument } from '../../json/json-document.ts';
import { defaultConfidence } from '../detectors/detector.ts';
import type { Detected, Match } from '../rule.ts';
import type { RuleInputs } from '../rule-inputs.ts';
import { placeInRequest, textOf } from '../traverse/place.ts';
import type { TextMatch } from './search-result.ts';
import type { MatchRange } from './viewed-text.ts';

/** Most places that a decision names; further ones are only counted. */
const placeLimit = 32;
// Counting reads the text again; in very long ones "at least once" does.
const countedLength = 65_536;
/** Most kinds of detected values that are named for one text. */
const detectedLimit = 16;

/** Occurrences as matches, one for each text of the request, in the order of the request. */
export function matchesAt(matches: readonly TextMatch[], inputs: RuleInputs): readonly Match[] {
  return firstTexts(matches).map((same) => {
    const { entry } = placeInRequest((same[0] as TextMatch).segment.place);
    return {
      at: pointerTo(inputs.subject.document, entry),
      view: same.some(({ view }) => view === 'exact') ? 'exact' : viewOf(same, inputs),
      matcher: 'text',
      ...countAll(same, inputs),
    };
  });
}

/** The matches of the first texts of the request that have any; those of most requests come in its order. */
function firstTexts(matches: readonly TextMatch[]): readonly (readonly TextMatch[])[] {
  const texts: TextMatch[][] = [];
  let last = -1;
  for (const match of isInOrder(matches) ? matches : matches.toSorted(byEntry)) {
    const entry = entryOf(match);
    if (entry === last) texts.at(-1)?.push(match);
    else if (texts.length === placeLimit) break;
    else texts.push([match]);
    last = entry;
  }
  return texts;
}

function isInOrder(matches: readonly TextMatch[]): boolean {
  for (let at = 1; at < matches.length; at += 1) {
    if (byEntry(matches[at - 1] as TextMatch, matches[at] as TextMatch) > 0) return false;
  }
  return true;
}

function byEntry(one: TextMatch, other: TextMatch): number {
  return entryOf(one) - entryOf(other);
}

function entryOf({ segment }: TextMatch): number {
  return placeInRequest(segment.place).entry;
}

/** The automaton for folded text sees what is there exactly, too. */
function viewOf(matches: readonly TextMatch[], inputs: RuleInputs): 'exact' | 'folded' {
  const isExact = matches.some(({ pattern, segment }) => {
    const sought = inputs.pattern(pattern);
    if (sought.kind !== 'phrase') return false;
    return textOf(segment.place).includes(sought.text);
  });
  return isExact ? 'exact' : 'folded';
}

/** How often something occurs in a text, and what detectors make of it. */
function countAll(matches: readonly TextMatch[], inputs: RuleInputs): Pick<Match, 'count' | 'detected'> {
  const detected = new Map<string, Detected>();
  let count = 0;
  const across = new Set<number>();
  for (const match of matches) {
    // What is found beside several texts, some of which may be left out, is there once.
    if (match.before !== undefined && across.has(match.pattern)) continue;
    if (match.before !== undefined) across.add(match.pattern);
    const ranges = rangesOf(match, inputs);
    count += Math.max(1, ranges.length);
    const pattern = inputs.pattern(match.pattern);
    if (pattern.kind !== 'detector') continue;
    const detector = pattern.name;
    // In a text that is not read again, no more is known than what the rule asked for.
    const kinds = ranges.length > 0 ? ranges : [{ confidence: pattern.confidence, why: undefined }];
    for (const { confidence = defaultConfidence, why } of kinds) {
      const kind = { detector, confidence, ...(why === undefined ? {} : { why }) };
      if (detected.size < detectedLimit) detected.set(JSON.stringify(kind), kind);
    }
  }
  return { count, ...(detected.size === 0 ? {} : { detected: [...detected.values()] }) };
}

function rangesOf({ pattern, segment, before, view }: TextMatch, inputs: RuleInputs): readonly MatchRange[] {
  const { document, entry } = segment.place;
  if (before !== undefined || document.end(entry) - document.start(entry) > countedLength) return [];
  const ranges = inputs.texts.at(segment.place).ranges(inputs.pattern(pattern));
  return ranges.filter((range) => range.view === view);
}

/** Where a text stands. Of a key that is the object it stands in: the key itself is what must not be disclosed. */
function pointerTo(document: JsonDocument, entry: number): string {
  const pointer = document.pointer(entry);
  return document.isKey(entry) ? pointer.slice(0, pointer.lastIndexOf('/')) : pointer;
}
