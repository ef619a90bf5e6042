const minBytes = 4 * 1024;
// Limits what a client costs that announces a long body and sends little of it.
const maxBytes = 1024 * 1024;

/**
 * Collects bytes that arrive in pieces, in at most twice their memory. They are stored in blocks that double in size, up
 * to a limit, so that growing leaves no garbage, and are joined on demand.
 */
export class GrowingBuffer {
  #blocks: Buffer[] = [];
  /** Bytes of the last block that are in use. */
  #used = 0;
  #length = 0;

  /** How many bytes have been added. */
  get length(): number {
    return this.#length;
  }

  /** A first piece is not copied, so it must not change; `expectedBytes` saves copies if more will come. */
  append(piece: Buffer, expectedBytes = 0): void {
    const before = this.#length;
    this.#length += piece.length;
    if (before === 0 && piece.length >= expectedBytes) {
      this.#blocks = [piece];
      this.#used = piece.length;
      return;
    }
    const block = this.#blocks.at(-1);
    const fitting = block === undefined ? 0 : piece.copy(block, this.#used);
    this.#used += fitting;
    if (fitting < piece.length) this.#append(piece.subarray(fitting), expectedBytes);
  }

  bytes(): Buffer {
    const [first] = this.#blocks;
    if (this.#blocks.length === 1 && first?.length === this.#length) return first;
    const last = this.#blocks.pop()?.subarray(0, this.#used) ?? Buffer.alloc(0);
    const whole = this.#blocks.length === 0 ? last : Buffer.concat([...this.#blocks, last], this.#length);
    this.#blocks = [whole];
    this.#used = whole.length;
    return whole;
  }

  #append(rest: Buffer, expectedBytes: number): void {
    const size = Math.max(minBytes, Math.min(maxBytes, Math.max(expectedBytes, this.#length)), rest.length);
    const block = Buffer.allocUnsafeSlow(size);
    this.#used = rest.copy(block);
    this.#blocks.push(block);
  }
}
