/** Steps that are remembered; a power of two. */
const room = 4096;

/** What characters above ASCII led to a while ago, by the pair before them and the age of its table. */
export class WideSteps {
  readonly #from = new Int32Array(room).fill(-1);
  readonly #point = new Int32Array(room);
  readonly #to = new Int32Array(room);
  readonly #age = new Int32Array(room);

  /** Offset of the pair that a character led to; -1 where nobody remembers. */
  recall(offset: number, codePoint: number, age: number): number {
    const slot = slotOf(offset, codePoint);
    const isKnown = this.#from[slot] === offset && this.#point[slot] === codePoint;
    return isKnown && this.#age[slot] === age ? (this.#to[slot] as number) : -1;
  }

  /** Offsets and age must be of one table. */
  note(
    step: { readonly offset: number; readonly codePoint: number; readonly age: number },
    to: number,
  ): void {
    const slot = slotOf(step.offset, step.codePoint);
    this.#from[slot] = step.offset;
    this.#point[slot] = step.codePoint;
    this.#age[slot] = step.age;
    this.#to[slot] = to;
  }
}

function slotOf(offset: number, codePoint: number): number {
  return (Math.imul(offset, 31) + codePoint) & (room - 1);
}
