import { closeSync, writeSync } from 'node:fs';

/** Writing fails, works again, or was given up, with lines lost. */
export type LineFileEvent =
  | { readonly kind: 'failing'; readonly cause: string }
  | { readonly kind: 'working' }
  | { readonly kind: 'lost'; readonly lines: number };

interface LineFileOptions {
  /** Whether other processes append to it: then each write holds whole lines, which the system does not interleave. */
  readonly isShared: boolean;
  readonly onEvent: (event: LineFileEvent) => void;
}

// One write per line would cost more than the rest of a record. Serializing lines in a batch is faster too, because code
// and data stay in the CPU's caches.
const batchValues = 32;
/** Longest text, in characters, of a value that may be buffered; a longer one is written at once. */
const batchLength = 4_096;
const flushMs = 200;
/** Most characters buffered while the file can't be written; the largest recorded body fits twice. */
const waitingLimit = 128 * 1024 * 1024;

/**
 * Appends lines to a file. A full disk must neither end nor block the process: lines are
 * buffered up to a limit, and every change of state is reported once.
 */
export class LineFile {
  readonly #descriptor: number;
  readonly #isShared: boolean;
  readonly #onEvent: (event: LineFileEvent) => void;
  readonly #timer: NodeJS.Timeout;
  #values: object[] = [];
  #waiting: string[] = [];
  #waitingLength = 0;
  /** What was passed to a write but not written: the disk may fill up in the middle of a line. */
  #rest = Buffer.alloc(0);
  #isFailing = false;
  #lost = 0;

  /** Takes a file that is open for appending, and closes it. */
  constructor(descriptor: number, { isShared, onEvent }: LineFileOptions) {
    this.#descriptor = descriptor;
    this.#isShared = isShared;
    this.#onEvent = onEvent;
    this.#timer = setInterval(() => {
      this.#makeLines();
      if (this.#waiting.length > 0 || this.#rest.length > 0) this.#flush();
    }, flushMs).unref();
  }

  /** Adds the value as a line of JSON; it must not change afterwards. The length of its longest text decides whether it may be buffered. */
  write(value: object, longestText: number): void {
    this.#values.push(value);
    if (this.#values.length < batchValues && longestText < batchLength) return;
    this.#makeLines();
    // While writing fails only the timer retries, so that no request pays for it.
    if (!this.#isFailing) this.#flush();
  }

  /** Writes what is buffered, as far as that is possible. */
  close(): void {
    clearInterval(this.#timer);
    this.#makeLines();
    this.#flush();
    this.#lost += this.#waiting.length + this.#rest.toString().trimStart().split('\n').length - 1;
    if (this.#lost > 0) this.#onEvent({ kind: 'lost', lines: this.#lost });
    closeSync(this.#descriptor);
  }

  #makeLines(): void {
    for (const value of this.#values) {
      const line = `${JSON.stringify(value)}\n`;
      if (this.#waitingLength + line.length > waitingLimit) {
        this.#lost += 1;
        continue;
      }
      this.#waiting.push(line);
      this.#waitingLength += line.length;
    }
    this.#values = [];
  }

  /** Writes all that waits, and reports whether writing has begun to fail or works again. */
  #flush(): void {
    try {
      this.#writeAll();
    } catch (error) {
      const cause = (error as NodeJS.ErrnoException).code ?? String(error);
      if (!this.#isFailing) this.#onEvent({ kind: 'failing', cause });
      this.#isFailing = true;
      return;
    }
    if (this.#isFailing) this.#onEvent({ kind: 'working' });
    if (this.#lost > 0) this.#onEvent({ kind: 'lost', lines: this.#lost });
    this.#isFailing = false;
    this.#lost = 0;
  }

  #writeAll(): void {
    do {
      if (this.#rest.length === 0) {
        this.#rest = Buffer.from(this.#waiting.join(''));
        this.#waiting = [];
        this.#waitingLength = 0;
      }
      while (this.#rest.length > 0) {
        const written = writeSync(this.#descriptor, this.#rest);
        this.#rest = this.#isShared ? fromLineStart(this.#rest, written) : this.#rest.subarray(written);
      }
    } while (this.#waiting.length > 0);
  }
}

const lineEnd = 0x0a;

/**
 * What is left of a text of which only the first bytes were written. A truncated line is repeated whole, on a line of
 * its own, because another process may have appended after the truncation.
 */
export function fromLineStart(text: Buffer<ArrayBuffer>, written: number): Buffer<ArrayBuffer> {
  const isWhole = written === 0 || written === text.length || text[written - 1] === lineEnd;
  if (isWhole) return text.subarray(written);
  return Buffer.concat([Buffer.of(lineEnd), text.subarray(text.lastIndexOf(lineEnd, written - 1) + 1)]);
}
