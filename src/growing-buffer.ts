const leastBytes = 4 * 1024;
// Who announces much and sends little costs little.
const mostExpectedBytes = 1024 * 1024;

/** Bytes that arrive in pieces, in one buffer: whatever the pieces, it holds at most twice what came. */
export class GrowingBuffer {
  #bytes: Buffer | undefined;
  #length = 0;

  /** How many bytes have come. */
  get length(): number {
    return this.#length;
  }

  /** A first piece is not copied, so it must not change; `expectedBytes` saves copies where more will come. */
  append(piece: Buffer, expectedBytes = 0): void {
    const needed = this.#length + piece.length;
    const expected = Math.min(expectedBytes, mostExpectedBytes);
    if (this.#bytes === undefined && needed >= expected) {
      this.#bytes = piece;
      this.#length = needed;
      return;
    }
    let target = this.#bytes;
    if (target === undefined || target.length < needed) {
      target = Buffer.allocUnsafeSlow(Math.max(expected, needed, 2 * this.#length, leastBytes));
      this.#bytes?.copy(target, 0, 0, this.#length);
      this.#bytes = target;
    }
    piece.copy(target, this.#length);
    this.#length = needed;
  }

  /** All of them, in the buffer itself. */
  bytes(): Buffer {
    return this.#bytes?.subarray(0, this.#length) ?? Buffer.alloc(0);
  }
}
