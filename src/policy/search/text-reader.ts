import type { JsonDocument } from '../../json/json-document.ts';
import type { TextView } from '../automaton/byte-reader.ts';
import type { Pattern, PatternSet } from '../automaton/patterns.ts';
import type { StatePair } from '../automaton/product-dfa.ts';
import type { TextBytes } from '../automaton/text-bytes.ts';
import type { Checkpoint } from '../checkpoint.ts';
import { isSureEnough } from '../detectors/detector.ts';
import { ViewedText } from './viewed-text.ts';

export interface PatternMatch {
  readonly pattern: number;
  readonly view: TextView;
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

/** Reads texts of one request or answer for all patterns of a set. */
export class TextReader {
  readonly #patternSet: PatternSet;
  readonly #text = new CurrentText();

  constructor(patternSet: PatternSet) {
    this.#patternSet = patternSet;
  }

  /** What is in a string, key or number of a document. */
  patternMatches(document: JsonDocument, entry: number, checkpoint?: Checkpoint): readonly PatternMatch[] {
    if (document.end(entry) === document.start(entry)) return noMatches;
    return this.#isOfInterest(document, entry)
      ? this.#confirm(document, entry, checkpoint).patternMatches
      : noMatches;
  }

  /** The same, and where the automata stand then, for a text that is not empty and that others follow. */
  read(document: JsonDocument, entry: number, checkpoint?: Checkpoint): TextVerdict {
    if (this.#isOfInterest(document, entry)) return this.#confirm(document, entry, checkpoint);
    return { patternMatches: noMatches, candidates: none, after: this.#patternSet.scanner.after() };
  }

  #isOfInterest(document: JsonDocument, entry: number): boolean {
    const { scanner, always } = this.#patternSet;
    return scanner.scan(this.#text.of(document, entry)) || always.length > 0;
  }

  /** Runs the detectors that are worth it; patterns and phrases are certain already. */
  #confirm(document: JsonDocument, entry: number, checkpoint: Checkpoint | undefined): TextVerdict {
    const { patterns, scanner, always } = this.#patternSet;
    const after = scanner.after();
    const { exact, folded } = scanner.found;
    const patternMatches: PatternMatch[] = [];
    const candidates = [...always];
    for (const pattern of exact) {
      if (patterns[pattern]?.kind === 'detector') candidates.push(pattern);
      else patternMatches.push({ pattern, view: 'exact' });
    }
    for (const pattern of folded) {
      // What both views report is there exactly.
      if (exact.has(pattern)) continue;
      if (patterns[pattern]?.kind === 'detector') candidates.push(pattern);
      else patternMatches.push({ pattern, view: 'folded' });
    }
    if (candidates.length === 0) return { patternMatches, candidates: none, after };
    checkpoint?.(document.end(entry) - document.start(entry));
    for (const patternMatch of this.#detect(candidates, document.text(entry)))
      patternMatches.push(patternMatch);
    return { patternMatches, candidates, after };
  }

  /** What some detectors find in a text, in either view. Each is asked once, whatever patterns it is of. */
  #detect(candidates: readonly number[], text: string): readonly PatternMatch[] {
    const { patterns, fold, wider } = this.#patternSet;
    const viewed = new ViewedText(text, fold);
    const patternMatches: PatternMatch[] = [];
    for (const number of candidates) {
      const pattern = patterns[number];
      if (pattern?.kind !== 'detector') continue;
      const other = wider.get(number);
      const whole = other !== undefined && candidates.includes(other) ? patterns[other] : pattern;
      const found = viewed.ranges(whole as Pattern).find((range) => isSureEnough(range, pattern.confidence));
      if (found !== undefined) patternMatches.push({ pattern: number, view: found.view });
    }
    return patternMatches;
  }
}

/** The text that is being read, so that a body of a thousand texts needs no object for each. */
export class CurrentText implements TextBytes {
  bytes: Uint8Array = noBytes.bytes;
  words: DataView = noBytes.words;
  start = 0;
  end = 0;

  /** Valid until the next one. */
  of(document: JsonDocument, entry: number): TextBytes {
    this.bytes = document.bytes;
    this.words = document.words;
    this.start = document.start(entry);
    this.end = document.end(entry);
    return this;
  }
}

const noBytes = { bytes: new Uint8Array(), words: new DataView(new ArrayBuffer(0)) };
