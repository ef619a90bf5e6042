import type { Fold } from '../fold/fold.ts';
import type { Reading } from '../fold/fold-character.ts';
import type { Alphabet } from './alphabet.ts';

/** Number of cached steps; a power of two. */
const room = 4096;

export interface Kinds {
  readonly exact: Alphabet;
  readonly folded: Alphabet;
  readonly fold: Fold;
}

interface Step {
  readonly offset: number;
  readonly codePoint: number;
  readonly epoch: number;
}

/** A step on the way of which patterns ended, so that they must be noted whenever it is taken. */
export interface StepWithPatterns {
  readonly epoch: number;
  readonly to: number;
  readonly exact: readonly number[];
  readonly folded: readonly number[];
}

const maxCodePoint = 0x110000;

/**
 * What characters above ASCII led to a while ago, by the pair before them and the epoch of its table; and by what both
 * automata know them by: all those lead to the same pair, and a body of all characters has but few kinds of them.
 */
export class WideTransitions {
  readonly #kinds: Kinds;
  readonly #readingKinds: number[] = [];
  readonly #kindsByClasses = new Map<string, number>();
  readonly #byPoint = new Steps();
  readonly #byKind = new Steps();
  readonly #withPatterns = new Map<number, StepWithPatterns>();

  constructor(kinds: Kinds) {
    this.#kinds = kinds;
  }

  /** Offset of the pair that a character led to; -1 if it is not cached. */
  recall(offset: number, codePoint: number, epoch: number): number {
    const known = this.#byPoint.recall(offset, codePoint, epoch);
    if (known >= 0) return known;
    const alike = this.#byKind.recall(offset, this.#kindOf(codePoint), epoch);
    if (alike >= 0) this.#byPoint.note(offset, codePoint, { epoch, to: alike });
    return alike;
  }

  /** Offsets and epoch must be of one table. */
  note({ offset, codePoint, epoch }: Step, to: number): void {
    this.#byPoint.note(offset, codePoint, { epoch, to });
    this.#byKind.note(offset, this.#kindOf(codePoint), { epoch, to });
  }

  /** The same for a step on which patterns ended. */
  recallPatterns(offset: number, codePoint: number, epoch: number): StepWithPatterns | undefined {
    const known = this.#withPatterns.get(offset * maxCodePoint + codePoint);
    return known?.epoch === epoch ? known : undefined;
  }

  notePatterns(offset: number, codePoint: number, step: StepWithPatterns): void {
    if (this.#withPatterns.size >= room) this.#withPatterns.clear();
    this.#withPatterns.set(offset * maxCodePoint + codePoint, step);
  }

  /** The classes of a character as one number; none if it folds to several. */
  #kindOf(codePoint: number): number {
    const { exact, folded, fold } = this.#kinds;
    const point = fold.point(codePoint);
    // Class 0 contains no character, so it can represent what the fold drops.
    const kind = point > 0 ? folded.of(point) : point === 0 ? 0 : this.#kindOfReadings(-1 - point);
    return (exact.of(codePoint) << 16) | kind;
  }

  /** A number behind those of the classes, the same for readings that lead through the same classes. */
  #kindOfReadings(index: number): number {
    const known = this.#readingKinds[index];
    if (known !== undefined) return known;
    const { folded, fold } = this.#kinds;
    const readings = fold.readings[index] as readonly Reading[];
    const key = readings.map((reading) => reading.map((point) => folded.of(point)).join()).join(';');
    const kind = this.#kindsByClasses.get(key) ?? folded.size + this.#kindsByClasses.size;
    this.#kindsByClasses.set(key, kind);
    this.#readingKinds[index] = kind;
    return kind;
  }
}

class Steps {
  readonly #from = new Int32Array(room).fill(-1);
  readonly #point = new Int32Array(room);
  readonly #to = new Int32Array(room);
  readonly #epoch = new Int32Array(room);

  recall(offset: number, point: number, epoch: number): number {
    const slot = slotOf(offset, point);
    const isKnown = this.#from[slot] === offset && this.#point[slot] === point;
    return isKnown && this.#epoch[slot] === epoch ? (this.#to[slot] as number) : -1;
  }

  note(offset: number, point: number, { epoch, to }: { readonly epoch: number; readonly to: number }): void {
    const slot = slotOf(offset, point);
    this.#from[slot] = offset;
    this.#point[slot] = point;
    this.#epoch[slot] = epoch;
    this.#to[slot] = to;
  }
}

function slotOf(offset: number, point: number): number {
  return (Math.imul(offset, 31) + point + (point >> 16)) & (room - 1);
}
