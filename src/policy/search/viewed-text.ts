import type { RE2JS } from 're2js';
import type { JsonDocument } from '../../json/json-document.ts';
import { partitionPoint } from '../../lib/partition-point.ts';
import type { TextView } from '../automaton/byte-reader.ts';
import { MixedReadings } from '../automaton/mixed-readings.ts';
import { Nfa } from '../automaton/nfa.ts';
import { addFolded, type NamedPattern, type Pattern } from '../automaton/patterns.ts';
import { type Checkpoint, unhurried } from '../checkpoint.ts';
import { type Detector, type Finding, isSurer, type Range } from '../detectors/detector.ts';
import type { Fold, FoldedText } from '../fold/fold.ts';
import type { Place } from '../traverse/place.ts';
import { JoinedTexts } from './joined-texts.ts';
import type { Piece, TextMatch } from './search-result.ts';
import { areMarked, startsWithWord } from './word-beside.ts';

/** More than the length of any text, to make one key of two places. */
const placeWidth = 2 ** 26;

/** A part of a text, in UTF-16 units; and the view in which the pattern was there. */
export interface MatchRange extends Finding {
  readonly view: TextView;
}

/** The ranges of a pattern outside some exceptions. */
interface Outside {
  readonly pattern: Pattern;
  readonly except: readonly NamedPattern[];
  readonly ranges: readonly MatchRange[];
}

/** What is known of a pattern in two texts joined with nothing, and with a space. */
interface JoinedMatch {
  /** Whether all of it is excepted. */
  readonly isExcepted: boolean;
  /** What each range over the border has of both texts. */
  readonly across: readonly (readonly Piece[])[];
}

/** A text in both views, folded once for all searches for ranges in it. */
export class ViewedText {
  readonly text: string;
  readonly #fold: Fold;
  #folded: readonly FoldedText[] | undefined;
  #changesCaseOnly: boolean | undefined;
  readonly #ranges = new Map<Pattern | Detector, readonly MatchRange[]>();
  #outside: Outside[] | undefined;

  constructor(text: string, fold: Fold) {
    this.text = text;
    this.#fold = fold;
  }

  /** Every range of a pattern, in UTF-16 units of the original text. */
  ranges(pattern: Pattern): readonly MatchRange[] {
    // A detector may be of several patterns, one for each confidence.
    const sought = pattern.kind === 'detector' ? pattern.detector : pattern;
    let ranges = this.#ranges.get(sought);
    if (ranges === undefined) {
      ranges = this.#find(pattern);
      this.#ranges.set(sought, ranges);
    }
    return ranges;
  }

  /** The same without those that lie within a range of an exception. */
  rangesOutside(pattern: Pattern, except: readonly NamedPattern[]): readonly MatchRange[] {
    const ranges = this.ranges(pattern);
    if (except.length === 0 || ranges.length === 0) return ranges;
    const known = this.#outside?.find((each) => each.pattern === pattern && each.except === except);
    if (known !== undefined) return known.ranges;
    const excepted = except.flatMap((each) => this.ranges(each.pattern));
    if (excepted.length === 0) return ranges;
    const isExcepted = createWithin(excepted);
    const outside = { pattern, except, ranges: ranges.filter((range) => !isExcepted(range)) };
    this.#outside ??= [];
    this.#outside.push(outside);
    return outside.ranges;
  }

  #find(pattern: Pattern): readonly MatchRange[] {
    if (pattern.kind === 'detector') {
      const { detector } = pattern;
      const exact = inView('exact', detector.find(this.text));
      if (!detector.folded || (detector.ignoresCase && this.#isPlain)) return exact;
      const folded = this.#inReadings((view) => detector.find(view));
      return withoutTwins(exact, folded);
    }
    const [exact, inFolded] = findersOf(pattern);
    const ranges = inView('exact', exact(this.text));
    return inFolded === undefined
      ? ranges
      : [...ranges, ...this.#inReadings(inFolded), ...this.#mixed(pattern)];
  }

  /** Whether the folded text differs in case only, so that all has the same place in both. */
  get #isPlain(): boolean {
    this.#changesCaseOnly ??= this.#fold.changesCaseOnly(this.text);
    return this.#changesCaseOnly;
  }

  get #readings(): readonly FoldedText[] {
    this.#folded ??= this.#fold.texts(this.text);
    return this.#folded;
  }

  /** What is there where every character is read in the same way: by its first reading, its second … */
  #inReadings(find: (view: string) => readonly Finding[]): readonly MatchRange[] {
    const [only] = this.#readings;
    // The folded text has the same units in the same places.
    if (only !== undefined && this.#isPlain) return inView('folded', find(only.text));
    return this.#readings.reduce<readonly MatchRange[]>((ranges, { text, choice }) => {
      const found = find(text).filter(({ start, end }) => end > start);
      if (found.length === 0) return ranges;
      return withoutTwins(ranges, inView('folded', this.#fold.locate(this.text, choice, found)));
    }, noRanges);
  }

  /** What is there only if one character is read in this way and another in that. */
  #mixed(pattern: Pattern): readonly MatchRange[] {
    if (this.#readings.length === 1) return [];
    return inView('folded', mixedReadingsOf(pattern, this.#fold).find(this.text));
  }
}

/** Kept as long as the pattern is. */
const mixedReadings = new WeakMap<Pattern, MixedReadings>();

function mixedReadingsOf(pattern: Pattern, fold: Fold): MixedReadings {
  const known = mixedReadings.get(pattern);
  if (known !== undefined) return known;
  const nfa = new Nfa();
  addFolded(nfa, pattern, 0);
  const mixed = new MixedReadings(nfa, fold);
  mixedReadings.set(pattern, mixed);
  return mixed;
}

/** The texts of one decision, each folded once. */
export class ViewedTexts {
  readonly fold: Fold;
  readonly #checkpoint: Checkpoint;
  readonly #texts = new Map<JsonDocument, Map<number, ViewedText>>();
  /** By the exceptions, then by the match: whether a rule applies and what it redacts both depend on them. */
  readonly #joined = new Map<readonly NamedPattern[], Map<TextMatch, JoinedMatch>>();

  constructor(fold: Fold, checkpoint = unhurried) {
    this.fold = fold;
    this.#checkpoint = checkpoint;
  }

  at({ document, entry }: Place): ViewedText {
    let entries = this.#texts.get(document);
    if (entries === undefined) {
      entries = new Map();
      this.#texts.set(document, entries);
    }
    let text = entries.get(entry);
    if (text === undefined) {
      this.#checkpoint(document.end(entry) - document.start(entry));
      text = new ViewedText(document.text(entry), this.fold);
      entries.set(entry, text);
    }
    return text;
  }

  /** Where the pattern of a match over two texts is in both joined. Without exceptions it is asked for once. */
  joined(match: TextMatch, pattern: Pattern, except: readonly NamedPattern[]): JoinedMatch {
    if (except.length === 0) return this.#join(match, pattern, except);
    let known = this.#joined.get(except);
    if (known === undefined) {
      known = new Map();
      this.#joined.set(except, known);
    }
    let joined = known.get(match);
    if (joined === undefined) {
      joined = this.#join(match, pattern, except);
      known.set(match, joined);
    }
    return joined;
  }

  #join(
    { segment, before = segment }: TextMatch,
    pattern: Pattern,
    except: readonly NamedPattern[],
  ): JoinedMatch {
    this.#checkpoint();
    const segments = [before, segment];
    const texts = segments.map(({ place }) => this.at(place).text);
    let isFound = false;
    let isLeft = false;
    const across = gaps.flatMap((gap) => {
      const joined = new JoinedTexts(segments, texts, gap);
      const viewed = new ViewedText(joined.text, this.fold);
      const ranges = viewed.rangesOutside(pattern, except);
      isFound ||= viewed.ranges(pattern).length > 0;
      isLeft ||= ranges.length > 0;
      return ranges.map((range) => joined.pieces(range)).filter(({ length }) => length > 0);
    });
    return { isExcepted: isFound && !isLeft, across };
  }
}

const gaps = ['', ' '] as const;
const noRanges: readonly MatchRange[] = [];

function inView(view: TextView, found: readonly Finding[]): readonly MatchRange[] {
  if (found.length === 0) return noRanges;
  // Each with as few members as it has: a body may have tens of thousands.
  return found.map(({ start, end, confidence, why }) => {
    if (confidence === undefined && why === undefined) return { start, end, view };
    return {
      start,
      end,
      view,
      ...(confidence === undefined ? undefined : { confidence }),
      ...(why === undefined ? undefined : { why }),
    };
  });
}

/** Some ranges, and those of others that are not the same parts of the text, or that are surer. */
function withoutTwins(ranges: readonly MatchRange[], others: readonly MatchRange[]): readonly MatchRange[] {
  if (ranges.length === 0) return others;
  if (others.length === 0) return ranges;
  const known = new Map(ranges.map((range) => [keyOf(range), range]));
  const more = others.filter((other) => {
    const twin = known.get(keyOf(other));
    return twin === undefined || isSurer(other, twin);
  });
  return more.length === 0 ? ranges : [...ranges, ...more];
}

function keyOf({ start, end }: MatchRange): number {
  return start * placeWidth + end;
}

type Find = (text: string) => readonly Range[];

/** What finds a pattern in a text, and in a folded one if it is sought there. */
function findersOf(pattern: Exclude<Pattern, { kind: 'detector' }>): readonly [Find, Find | undefined] {
  if (pattern.kind === 'phrase') {
    const { text: phrase, folded } = pattern;
    const inFolded: Find = (text) => (folded ?? []).flatMap((form) => findLiteral(text, form));
    return [(text) => findLiteral(text, phrase), folded && inFolded];
  }
  const { exact, folded } = pattern;
  return [(text) => findRegex(exact, text), folded && ((text) => findRegex(folded, text))];
}

function findLiteral(text: string, literal: string): readonly Range[] {
  const found: Range[] = [];
  for (let at = text.indexOf(literal); at >= 0; at = text.indexOf(literal, at + literal.length)) {
    found.push({ start: at, end: at + literal.length });
  }
  return found;
}

function findRegex(regex: RE2JS, text: string): readonly Range[] {
  const found: Range[] = [];
  const matcher = regex.matcher(text);
  while (matcher.find()) found.push({ start: matcher.start(), end: matcher.end() });
  return found;
}

/** Returns whether one of some ranges holds all of another; a text may have tens of thousands of either. */
function createWithin(ranges: readonly MatchRange[]): (range: Range) => boolean {
  const sorted = [...ranges].sort((one, other) => one.start - other.start);
  // How far those reach that begin no later than each.
  const reaches = new Int32Array(sorted.length);
  let reach = 0;
  for (const [at, { end }] of sorted.entries()) {
    reach = Math.max(reach, end);
    reaches[at] = reach;
  }
  return ({ start, end }) => {
    const begun = partitionPoint(sorted.length, (at) => (sorted[at] as MatchRange).start <= start);
    return begun > 0 && (reaches[begun - 1] as number) >= end;
  };
}

/** What has to be known of the patterns that were searched for. */
interface Known {
  pattern(number: number): Pattern;
  readonly texts: ViewedTexts;
}

/** The matches that have a range outside all exceptions. */
export function withoutExcepted(
  matches: readonly TextMatch[],
  except: readonly NamedPattern[],
  known: Known,
): readonly TextMatch[] {
  if (except.length === 0) return matches;
  return matches.filter((match) => {
    const pattern = known.pattern(match.pattern);
    if (match.before === undefined) {
      const text = known.texts.at(match.segment.place);
      // Few texts have an exception, and to search for one takes less than most detectors.
      if (except.every((each) => text.ranges(each.pattern).length === 0)) return true;
      return text.ranges(pattern).length === 0 || text.rangesOutside(pattern, except).length > 0;
    }
    if (match.pieces !== undefined && isBesideExcepted(match.pieces, except, known.texts)) return false;
    // Spread over more than two texts, it can't be shown to be excepted.
    if (match.pieces !== undefined && match.pieces.length > 2) return true;
    return !known.texts.joined(match, pattern, except).isExcepted;
  });
}

/** Whether only a word in the next text lies outside an exception: a placeholder, and "sunny" after it. */
function isBesideExcepted(
  pieces: readonly Piece[],
  except: readonly NamedPattern[],
  texts: ViewedTexts,
): boolean {
  const [one, other, ...more] = pieces;
  if (one === undefined || other === undefined || more.length > 0) return false;
  const next = texts.at(other.segment.place).text;
  if (!startsWithWord(next, other.end, areMarked(one.segment, other.segment))) return false;
  const text = texts.at(one.segment.place);
  return createWithin(except.flatMap((each) => text.ranges(each.pattern)))(one);
}
