import type { JsonDocument } from '../../json/json-document.ts';
import type { TextBytes } from '../automaton/code-points.ts';
import type { View } from '../automaton/found-patterns.ts';
import type { PatternSet } from '../automaton/pattern-set.ts';
import type { StatePair } from '../automaton/product-dfa.ts';
import { type Confidence, type Detector, type Finding, isAtLeast } from '../detectors/detector.ts';
import type { Fold } from '../fold/fold.ts';

export interface PatternMatch {
  readonly pattern: number;
  readonly view: View;
}

/** What is known of one text by itself. It holds for the same bytes wherever they stand. */
export interface TextVerdict {
  readonly patternMatches: readonly PatternMatch[];
  /** Detectors that were worth a look, whether they found something or not. */
  readonly candidates: readonly number[];
  /** Where the automata stand after it. */
  readonly after: StatePair;
}

const noMatches: readonly PatternMatch[] = [];
const none: readonly number[] = [];

/** Reads texts of documents for all patterns of a set. */
export class TextReader {
  readonly #patternSet: PatternSet;

  constructor(patternSet: PatternSet) {
    this.#patternSet = patternSet;
  }

  /** What is in a string, key or number of a document. */
  patternMatches(document: JsonDocument, entry: number): readonly PatternMatch[] {
    if (document.end(entry) === document.start(entry)) return noMatches;
    const { scanner, always } = this.#patternSet;
    const isFound = scanner.scan(bytesOf(document, entry));
    return isFound || always.length > 0 ? this.#confirm(document, entry).patternMatches : noMatches;
  }

  /** The same, and where the automata stand then, for a text that is not empty and that others follow. */
  read(document: JsonDocument, entry: number): TextVerdict {
    const { scanner, always } = this.#patternSet;
    const isFound = scanner.scan(bytesOf(document, entry));
    if (isFound || always.length > 0) return this.#confirm(document, entry);
    return { patternMatches: noMatches, candidates: none, after: scanner.after() };
  }

  /** Runs the detectors that are worth it; patterns and phrases are certain already. */
  #confirm(document: JsonDocument, entry: number): TextVerdict {
    const { patterns, scanner, always } = this.#patternSet;
    const after = scanner.after();
    const { exact, folded } = scanner.found;
    const patternMatches: PatternMatch[] = [];
    const candidates = [...always];
    for (const pattern of exact) {
      if (patterns[pattern]?.kind === 'detector') candidates.push(pattern);
      else patternMatches.push({ pattern, view: 'exact' });
    }
    // Each view reports a pattern once; what both report is there exactly.
    const reported = exact.length > 0 && folded.length > 0 ? new Set(exact) : undefined;
    for (const pattern of folded) {
      if (reported?.has(pattern)) continue;
      if (patterns[pattern]?.kind === 'detector') candidates.push(pattern);
      else patternMatches.push({ pattern, view: 'folded' });
    }
    if (candidates.length === 0) return { patternMatches, candidates: none, after };
    for (const patternMatch of this.detect(candidates, document.text(entry)))
      patternMatches.push(patternMatch);
    return { patternMatches, candidates, after };
  }

  /** What some detectors find in a text, in either view. Each is asked once, whatever patterns it is of. */
  detect(candidates: readonly number[], text: string): readonly PatternMatch[] {
    const { patterns, wider } = this.#patternSet;
    const asked = new AskedDetectors(text, this.#patternSet.fold);
    const patternMatches: PatternMatch[] = [];
    for (const number of candidates) {
      const pattern = patterns[number];
      if (pattern?.kind !== 'detector') continue;
      const other = wider.get(number);
      const whole = other !== undefined && candidates.includes(other) ? patterns[other] : pattern;
      if (whole?.kind !== 'detector') continue;
      const view = asked.viewOf(whole.detector, pattern.confidence);
      if (view !== undefined) patternMatches.push({ pattern: number, view });
    }
    return patternMatches;
  }
}

/** What a detector finds in a text, and in its folded forms once those are asked for. */
interface Asked {
  readonly exact: readonly Finding[];
  folded: readonly Finding[] | undefined;
}

/** What detectors find in one text. */
class AskedDetectors {
  readonly #text: string;
  readonly #fold: Fold;
  #isCaseOnly: boolean | undefined;
  #folded: readonly string[] | undefined;
  readonly #asked = new Map<Detector, Asked>();

  constructor(text: string, fold: Fold) {
    this.#text = text;
    this.#fold = fold;
  }

  /** The view in which a detector finds something that is at least so certain; undefined if in neither. */
  viewOf(detector: Detector, confidence: Confidence): View | undefined {
    let asked = this.#asked.get(detector);
    if (asked === undefined) {
      asked = { exact: detector.find(this.#text), folded: undefined };
      this.#asked.set(detector, asked);
    }
    if (holdsFinding(asked.exact, confidence)) return 'exact';
    if (!detector.folded) return undefined;
    asked.folded ??= this.#findFolded(detector);
    return holdsFinding(asked.folded, confidence) ? 'folded' : undefined;
  }

  #findFolded(detector: Detector): readonly Finding[] {
    this.#isCaseOnly ??= this.#fold.changesCaseOnly(this.#text);
    if (this.#isCaseOnly && detector.ignoresCase) return [];
    this.#folded ??= this.#fold.texts(this.#text).map((each) => each.text);
    return this.#folded.flatMap((each) => (each === this.#text ? [] : detector.find(each)));
  }
}

function holdsFinding(findings: readonly Finding[], least: Confidence): boolean {
  return findings.length > 0 && findings.some((finding) => isAtLeast(finding, least));
}

export function bytesOf(document: JsonDocument, entry: number): TextBytes {
  return {
    bytes: document.bytes,
    words: document.words,
    start: document.start(entry),
    end: document.end(entry),
  };
}
