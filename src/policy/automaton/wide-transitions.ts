/** Number of cached steps; a power of two. */
const room = 4096;

/** A step on the way of which patterns ended, so that they must be noted whenever it is taken. */
export interface StepWithPatterns {
  readonly epoch: number;
  readonly to: number;
  readonly exact: readonly number[];
  readonly folded: readonly number[];
}

const maxCodePoint = 0x110000;

/** What characters above ASCII led to a while ago, by the pair before them and the epoch of its table. */
export class WideTransitions {
  readonly #from = new Int32Array(room).fill(-1);
  readonly #point = new Int32Array(room);
  readonly #to = new Int32Array(room);
  readonly #epoch = new Int32Array(room);
  readonly #withPatterns = new Map<number, StepWithPatterns>();

  /** Offset of the pair that a character led to; -1 if it is not cached. */
  recall(offset: number, codePoint: number, epoch: number): number {
    const slot = slotOf(offset, codePoint);
    const isKnown = this.#from[slot] === offset && this.#point[slot] === codePoint;
    return isKnown && this.#epoch[slot] === epoch ? (this.#to[slot] as number) : -1;
  }

  /** Offsets and epoch must be of one table. */
  note(offset: number, codePoint: number, { epoch, to }: Pick<StepWithPatterns, 'epoch' | 'to'>): void {
    const slot = slotOf(offset, codePoint);
    this.#from[slot] = offset;
    this.#point[slot] = codePoint;
    this.#epoch[slot] = epoch;
    this.#to[slot] = to;
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
}

function slotOf(offset: number, point: number): number {
  return (Math.imul(offset, 31) + point + (point >> 16)) & (room - 1);
}
