import type { PieceTaker } from './chunked.ts';

/** Takes a body whose length was announced as it arrives; one without a length has no end here. */
export class LengthBody {
  isComplete = false;
  readonly #taker: PieceTaker;
  /** Bytes that have not come. */
  #left: number;

  constructor(taker: PieceTaker, length: number) {
    this.#taker = taker;
    this.#left = length;
  }

  /** Reads on; gives how many of the bytes belong to the body. */
  push(bytes: Buffer): number {
    const taken = Math.min(this.#left, bytes.length);
    this.#left -= taken;
    this.#taker.take(taken === bytes.length ? bytes : bytes.subarray(0, taken));
    this.isComplete = this.#left === 0;
    return taken;
  }
}
