import type { JsonDocument } from '../../json/json-document.ts';
import { HarmlessWords, longestWord } from './harmless-words.ts';
import type { Machine } from './machine.ts';
import type { Standing, TextBytes, View } from './scanner.ts';
import type { VerdictCache } from './verdict-cache.ts';

export interface Hit {
  readonly needle: number;
  readonly view: View;
}

/** What is known of one text by itself. It holds for the same bytes wherever they stand. */
export interface TextVerdict {
  readonly hits: readonly Hit[];
  /** Detectors that were worth a look, whether they found something or not. */
  readonly candidates: readonly number[];
  /** Where the automata stand after it. */
  readonly after: Standing;
}

const noHits: readonly Hit[] = [];
const none: readonly number[] = [];

/** Reads texts of documents for all needles of a machine, and remembers long ones. */
export class TextReader {
  readonly #machine: Machine;
  readonly #cache: VerdictCache;
  readonly #harmless = new HarmlessWords();

  constructor(machine: Machine, cache: VerdictCache) {
    this.#machine = machine;
    this.#cache = cache;
  }

  /** What is in a string, key or number of a document. */
  hits(document: JsonDocument, entry: number): readonly Hit[] {
    const start = document.start(entry);
    const length = document.end(entry) - start;
    if (length === 0) return noHits;
    const isWord = length <= longestWord && !document.isEscaped(entry);
    if (isWord && this.#harmless.has(document.bytes, start, start + length)) return noHits;
    const text = bytesOf(document, entry);
    if (length >= this.#cache.shortest) return this.#recall(document, entry, text).hits;
    const { scanner, always } = this.#machine;
    if (scanner.scan(text) || always.length > 0) return this.#confirm(document, entry).hits;
    if (isWord) this.#harmless.add(document.bytes, start, start + length);
    return noHits;
  }

  /** The same, and where the automata stand then, for a text that others follow. */
  read(document: JsonDocument, entry: number): TextVerdict {
    const text = bytesOf(document, entry);
    if (text.end - text.start < this.#cache.shortest) return this.#judge(document, entry, text);
    return this.#recall(document, entry, text);
  }

  #recall(document: JsonDocument, entry: number, text: TextBytes): TextVerdict {
    const hash = this.#cache.hash(text);
    const known = this.#cache.get(hash, text);
    if (known !== undefined) return known;
    const verdict = this.#judge(document, entry, text);
    this.#cache.set(hash, text, verdict);
    return verdict;
  }

  #judge(document: JsonDocument, entry: number, text: TextBytes): TextVerdict {
    const { scanner, always } = this.#machine;
    const isFound = scanner.scan(text);
    if (isFound || always.length > 0) return this.#confirm(document, entry);
    return { hits: noHits, candidates: none, after: scanner.after() };
  }

  /** Runs the detectors that are worth it; patterns and phrases are certain already. */
  #confirm(document: JsonDocument, entry: number): TextVerdict {
    const { needles, scanner, always } = this.#machine;
    const after = scanner.after();
    const { exact, folded } = scanner.found;
    const hits: Hit[] = [];
    const candidates = [...always];
    for (const needle of exact) {
      if (needles[needle]?.kind === 'detector') candidates.push(needle);
      else hits.push({ needle, view: 'exact' });
    }
    // Each view tells a needle once; what both tell is there exactly.
    const told = exact.length > 0 && folded.length > 0 ? new Set(exact) : undefined;
    for (const needle of folded) {
      if (told?.has(needle)) continue;
      if (needles[needle]?.kind === 'detector') candidates.push(needle);
      else hits.push({ needle, view: 'folded' });
    }
    if (candidates.length === 0) return { hits, candidates: none, after };
    for (const hit of this.detect(candidates, document.text(entry))) hits.push(hit);
    return { hits, candidates, after };
  }

  /** What some detectors find in a text, in either view. */
  detect(candidates: readonly number[], text: string): readonly Hit[] {
    const { needles, fold } = this.#machine;
    const hits: Hit[] = [];
    let folded: string | undefined;
    let isCaseOnly: boolean | undefined;
    for (const number of candidates) {
      const needle = needles[number];
      if (needle?.kind !== 'detector') continue;
      const { detector } = needle;
      if (detector.find(text).length > 0) {
        hits.push({ needle: number, view: 'exact' });
        continue;
      }
      if (!detector.folded) continue;
      isCaseOnly ??= fold.changesCaseOnly(text);
      if (isCaseOnly && detector.ignoresCase) continue;
      folded ??= fold.plain(text);
      if (folded !== text && detector.find(folded).length > 0) hits.push({ needle: number, view: 'folded' });
    }
    return hits;
  }
}

export function bytesOf(document: JsonDocument, entry: number): TextBytes {
  return {
    bytes: document.bytes,
    words: document.words,
    start: document.start(entry),
    end: document.end(entry),
  };
}
