/**
 * Held by a thread while it is in a native library, and taken by whoever ends the thread: Node ends it at any moment, but
 * a native call whose result no longer fits into an ending thread aborts the whole process (SQLite's package for Node 20).
 */
export class ThreadLock {
  readonly memory: SharedArrayBuffer;
  readonly #state: Int32Array;

  /** Each thread makes its own from the same memory. */
  constructor(memory = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#state = new Int32Array(memory);
  }

  /** Blocks the calling thread. Returns whether the lock was free within that time. */
  acquire(maxMs = Number.POSITIVE_INFINITY): boolean {
    const deadline = performance.now() + maxMs;
    while (Atomics.compareExchange(this.#state, 0, free, held) !== free) {
      if (Atomics.wait(this.#state, 0, held, deadline - performance.now()) === 'timed-out') return false;
    }
    return true;
  }

  /** Whether the process is about to end: the thread finishes what it holds the lock for, and begins nothing more. */
  get isProcessEnding(): boolean {
    return Atomics.load(this.#state, 1) !== 0;
  }

  /** Has the process take it before it ends; returns the function that undoes this. */
  acquireAtExit(maxMs: number): () => void {
    const onExit = () => {
      Atomics.store(this.#state, 1, 1);
      this.acquire(maxMs);
    };
    process.once('exit', onExit);
    return () => process.off('exit', onExit);
  }

  release(): void {
    Atomics.store(this.#state, 0, free);
    Atomics.notify(this.#state, 0, 1);
  }
}

const free = 0;
const held = 1;
