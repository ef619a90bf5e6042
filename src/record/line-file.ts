import { writeSync } from 'node:fs';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { DailyFile } from './daily-file.ts';

/** Writing fails, works again, or was given up, with lines lost. */
export type LineFileEvent =
  | { readonly kind: 'failing'; readonly cause: string }
  | { readonly kind: 'working' }
  | { readonly kind: 'lost'; readonly lines: number };

interface LineFileOptions<Value> {
  /** Whether other processes append to it: then each write holds whole lines, which the system does not interleave. */
  readonly isShared: boolean;
  /** The member, a text, that may be long; it comes last in its line. */
  readonly long: keyof Value & string;
  readonly onEvent: (event: LineFileEvent) => void;
  /** Gets the JSON of the next values, without that member, before they are written. */
  readonly onLines?: ((lines: readonly string[]) => void) | undefined;
}

// One write per line would cost more than the rest of a record. Serializing lines in a batch is faster too, because code
// and data stay in the CPU's caches.
const batchValues = 32;
/** Longest text, in characters, of a value that may be buffered; a longer one is written at once. */
const batchLength = 4_096;
/** A longer text is made into JSON in pieces of this many characters, a millisecond each, so that nothing waits for it. */
const pieceLength = 512 * 1_024;
const flushMs = 200;
/** A value that comes later than this after a write is written at once. */
const aloneMs = 20;
/**
 * Maximum characters, or bytes of long lines, buffered while the file can't be written; the largest recorded body
 * fits twice.
 */
const waitingLimit = 128 * 1024 * 1024;

/**
 * Appends lines to a file. A full disk must neither end nor block the process: lines are
 * buffered up to a limit, and every change of state is reported once.
 */
export class LineFile<Value extends object> {
  readonly #file: DailyFile;
  readonly #options: LineFileOptions<Value>;
  readonly #timer: NodeJS.Timeout;
  #values: Value[] = [];
  /** Values that are being made into lines piece by piece. */
  readonly #long = new Set<Value>();
  #waiting: (string | Buffer<ArrayBuffer>)[] = [];
  #waitingLength = 0;
  /** What was passed to a write but not written: the disk may fill up in the middle of a line. */
  #rest = Buffer.alloc(0);
  #isFailing = false;
  #lost = 0;
  #flushedMs = 0;

  /** Takes a file that is open, and closes it. */
  constructor(file: DailyFile, options: LineFileOptions<Value>) {
    this.#file = file;
    this.#options = options;
    this.#timer = setInterval(() => {
      this.#makeLines();
      if (this.#waiting.length > 0 || this.#rest.length > 0) this.#flush();
      else this.#file.turn();
    }, flushMs).unref();
  }

  /**
   * Adds the value as a line of JSON; it must not change afterwards. It may be buffered if values come quickly: who asks
   * for the records of a moment ago finds them. One with a long text is not.
   */
  write(value: Value): void {
    const { length } = this.#longText(value);
    if (length > pieceLength) {
      void this.#writeInPieces(value); // it never rejects
      return;
    }
    this.#values.push(value);
    const isAlone = performance.now() - this.#flushedMs >= aloneMs;
    if (isAlone || this.#values.length >= batchValues || length >= batchLength) this.flush();
  }

  /** Writes what was added. */
  flush(): void {
    this.#makeLines();
    this.#flushUnlessFailing();
  }

  async #writeInPieces(value: Value): Promise<void> {
    this.#long.add(value);
    const text = this.#longText(value);
    const short = this.#withoutLong(value);
    const pieces = [Buffer.from(`${short.slice(0, -1)},"${this.#options.long}":"`)];
    for (let at = 0; at < text.length; at += pieceLength) {
      // A pair that is cut apart becomes two escapes, which are read as the same character.
      pieces.push(Buffer.from(JSON.stringify(text.slice(at, at + pieceLength)).slice(1, -1)));
      await nextTick();
      if (!this.#long.has(value)) return; // written by `close`
    }
    this.#long.delete(value);
    this.#addLine(Buffer.concat([...pieces, Buffer.from('"}\n')]));
    this.#options.onLines?.([short]);
    this.#flushUnlessFailing();
  }

  #longText(value: Value): string {
    return (value[this.#options.long] as string | undefined) ?? '';
  }

  #withoutLong(value: Value): string {
    return JSON.stringify({ ...value, [this.#options.long]: undefined });
  }

  #flushUnlessFailing(): void {
    // While writing fails only the timer retries, so that no request pays for it.
    if (!this.#isFailing) this.#flush();
  }

  /** Writes what is buffered, as far as that is possible. */
  close(): void {
    clearInterval(this.#timer);
    this.#values.push(...this.#long);
    this.#long.clear();
    this.#makeLines();
    this.#flush();
    this.#lost += this.#waiting.length + this.#rest.toString().trimStart().split('\n').length - 1;
    if (this.#lost > 0) this.#options.onEvent({ kind: 'lost', lines: this.#lost });
    this.#file.close();
  }

  #makeLines(): void {
    const { long, onLines } = this.#options;
    const lines = this.#values.map((value) => {
      const text = this.#longText(value);
      const line = text === '' ? JSON.stringify(value) : this.#withoutLong(value);
      const whole = text === '' ? line : `${line.slice(0, -1)},"${long}":${JSON.stringify(text)}}`;
      this.#addLine(`${whole}\n`);
      return line;
    });
    this.#values = [];
    if (lines.length > 0) onLines?.(lines);
  }

  #addLine(line: string | Buffer<ArrayBuffer>): void {
    if (this.#waitingLength + line.length > waitingLimit) {
      this.#lost += 1;
      return;
    }
    this.#waiting.push(line);
    this.#waitingLength += line.length;
  }

  /** Writes all that waits, and reports whether writing has begun to fail or works again. */
  #flush(): void {
    this.#flushedMs = performance.now();
    try {
      this.#writeAll();
    } catch (error) {
      const cause = (error as NodeJS.ErrnoException).code ?? String(error);
      if (!this.#isFailing) this.#options.onEvent({ kind: 'failing', cause });
      this.#isFailing = true;
      return;
    }
    if (this.#isFailing) this.#options.onEvent({ kind: 'working' });
    if (this.#lost > 0) this.#options.onEvent({ kind: 'lost', lines: this.#lost });
    this.#isFailing = false;
    this.#lost = 0;
  }

  #writeAll(): void {
    do {
      if (this.#rest.length === 0) {
        this.#file.turn();
        this.#rest = toBytes(this.#waiting);
        this.#waiting = [];
        this.#waitingLength = 0;
      }
      while (this.#rest.length > 0) {
        const written = writeSync(this.#file.descriptor, this.#rest);
        this.#rest = this.#options.isShared
          ? fromLineStart(this.#rest, written)
          : this.#rest.subarray(written);
      }
    } while (this.#waiting.length > 0);
  }
}

/** Lines as one; a long one is in bytes already, and alone as a rule. */
function toBytes(lines: readonly (string | Buffer<ArrayBuffer>)[]): Buffer<ArrayBuffer> {
  const [first] = lines;
  if (lines.length === 1 && typeof first === 'object') return first;
  if (lines.every((line) => typeof line === 'string')) return Buffer.from(lines.join(''));
  return Buffer.concat(lines.map((line) => (typeof line === 'string' ? Buffer.from(line) : line)));
}

const lineEnd = 0x0a;

/**
 * The rest of a text whose first bytes were written. A truncated line is repeated whole, on a line of
 * its own, because another process may have appended after the truncation.
 */
export function fromLineStart(text: Buffer<ArrayBuffer>, written: number): Buffer<ArrayBuffer> {
  const endsWithLine = written === 0 || written === text.length || text[written - 1] === lineEnd;
  if (endsWithLine) return text.subarray(written);
  return Buffer.concat([Buffer.of(lineEnd), text.subarray(text.lastIndexOf(lineEnd, written - 1) + 1)]);
}
