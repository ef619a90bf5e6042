import { partitionPoint } from '../../lib/partition-point.ts';
import type { Range } from '../detectors/detector.ts';
import type { Segment } from '../traverse/place.ts';
import type { Piece } from './search-result.ts';
import { areMarked, endsWithWord, isWord, startsWithWord } from './word-beside.ts';

/** What the detector of a finding finds in a text by itself. */
type FindAlone = (text: string) => readonly Range[];

/** What may stand between a name at the end of one text and its value in the next. */
const beforeValue = /^[\s"'`=:]{0,8}$/;

/** Texts as one, with a gap between any two; of the first and the last no more than the reach. */
export class JoinedTexts {
  readonly text: string;
  readonly #segments: readonly Segment[];
  readonly #gap: number;
  readonly #ends: readonly number[];
  /** Characters of the first that are left out. */
  readonly #skipped: number;

  constructor(
    segments: readonly Segment[],
    texts: readonly string[],
    gap: '' | ' ',
    reach = Number.POSITIVE_INFINITY,
  ) {
    const first = texts[0] as string;
    let text = first.slice(-reach);
    const ends = [text.length];
    for (let at = 1; at < texts.length; at += 1) {
      const own = texts[at] as string;
      text += gap + (at === texts.length - 1 ? own.slice(0, reach) : own);
      ends.push(text.length);
    }
    this.text = text;
    this.#segments = segments;
    this.#gap = gap.length;
    this.#ends = ends;
    this.#skipped = first.length - (ends[0] as number);
  }

  /** What a range has of each text; nothing if it is within one. */
  pieces({ start, end }: Range): readonly Piece[] {
    const first = this.#indexOf(start);
    const last = this.#indexOf(end - 1);
    if (first === last || end <= this.#startOf(last)) return [];
    return this.#pieces({ start, end }, first, last);
  }

  /** The same of a value, without words beside it; nothing if a text shows all of it by itself. */
  piecesOfValue(range: Range, findAlone: FindAlone): readonly Piece[] {
    let { start, end } = range;
    let first = this.#indexOf(start);
    let last = this.#indexOf(end - 1);
    if (first === last) {
      return this.#isNamedBefore(range, first, findAlone) ? this.#pieces(range, first, last) : [];
    }
    while (first < last && this.#endsBeforeWord({ start, end }, last, findAlone)) {
      last -= 1;
      end = this.#ends[last] as number;
    }
    while (first < last && this.#startsAfterWord({ start, end }, first, findAlone)) {
      first += 1;
      start = this.#startOf(first);
    }
    return first === last ? [] : this.#pieces({ start, end }, first, last);
  }

  #indexOf(position: number): number {
    return partitionPoint(this.#ends.length, (index) => (this.#ends[index] as number) <= position);
  }

  #startOf(index: number): number {
    return index === 0 ? 0 : (this.#ends[index - 1] as number) + this.#gap;
  }

  #slice(from: number, to = from): string {
    return this.text.slice(this.#startOf(from), this.#ends[to]);
  }

  #pieces({ start, end }: Range, first: number, last: number): readonly Piece[] {
    const pieces: Piece[] = [];
    for (let at = first; at <= last; at += 1) {
      const from = this.#startOf(at);
      const offset = at === 0 ? this.#skipped : 0;
      pieces.push({
        segment: this.#segments[at] as Segment,
        start: Math.max(start - from, 0) + offset,
        end: Math.min(end, this.#ends[at] as number) - from + offset,
      });
    }
    return pieces;
  }

  /** Whether what a value has of its last text is only a word beside it. */
  #endsBeforeWord({ start, end }: Range, last: number, findAlone: FindAlone): boolean {
    const length = end - this.#startOf(last);
    if (!startsWithWord(this.#slice(last), length, this.#areMarked(last))) return false;
    const from = this.#startOf(this.#indexOf(start));
    const alone = this.text.slice(from, this.#ends[last - 1]);
    return findAlone(alone).some((each) => each.start <= start - from && each.end === alone.length);
  }

  /** The same for its first one. */
  #startsAfterWord({ start, end }: Range, first: number, findAlone: FindAlone): boolean {
    const length = (this.#ends[first] as number) - start;
    if (!endsWithWord(this.#slice(first), length, this.#areMarked(first + 1))) return false;
    const from = this.#startOf(first + 1);
    const alone = this.text.slice(from, this.#ends[this.#indexOf(end - 1)]);
    return findAlone(alone).some((each) => each.start === 0 && each.end >= end - from);
  }

  /** Whether a value at the beginning of a text is one only by what stands before: `API_KEY=`, and the key. */
  #isNamedBefore({ start, end }: Range, index: number, findAlone: FindAlone): boolean {
    const from = this.#startOf(index);
    if (index === 0 || !beforeValue.test(this.text.slice(from, start))) return false;
    if (isWord(this.text.slice(start, end))) return false;
    return !findAlone(this.#slice(index)).some(
      (each) => each.start <= start - from && each.end >= end - from,
    );
  }

  #areMarked(index: number): boolean {
    return areMarked(this.#segments[index - 1] as Segment, this.#segments[index] as Segment);
  }
}
