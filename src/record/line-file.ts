import { closeSync, openSync, writeSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { makeDirectory } from '../make-directory.ts';

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

export interface LineFile {
  /** Adds the value as a line of JSON; it must not change afterwards. The length of its longest text decides whether it may be buffered. */
  write(value: object, longestText: number): void;
  /** Writes what is buffered, as far as that is possible. */
  close(): void;
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
 * Appends lines to a file that only its owner can read. A full disk must neither end nor block the process: lines are
 * buffered up to a limit, and every change of state is reported once. Throws if the file can't be opened.
 */
export function openLineFile(file: string, { isShared, onEvent }: LineFileOptions): LineFile {
  makeDirectory(dirname(resolve(file)));
  const descriptor = openSync(file, 'a', 0o600);
  let values: object[] = [];
  let waiting: string[] = [];
  let waitingLength = 0;
  /** What was passed to a write but not written: the disk may fill up in the middle of a line. */
  let rest = Buffer.alloc(0);
  let isFailing = false;
  let lost = 0;

  const makeLines = (): void => {
    for (const value of values) {
      const line = `${JSON.stringify(value)}\n`;
      if (waitingLength + line.length > waitingLimit) {
        lost += 1;
        continue;
      }
      waiting.push(line);
      waitingLength += line.length;
    }
    values = [];
  };
  const flush = (): void => {
    try {
      do {
        if (rest.length === 0) {
          rest = Buffer.from(waiting.join(''));
          waiting = [];
          waitingLength = 0;
        }
        while (rest.length > 0) {
          const written = writeSync(descriptor, rest);
          rest = isShared ? fromLineStart(rest, written) : rest.subarray(written);
        }
      } while (waiting.length > 0);
    } catch (error) {
      if (!isFailing)
        onEvent({ kind: 'failing', cause: (error as NodeJS.ErrnoException).code ?? String(error) });
      isFailing = true;
      return;
    }
    if (isFailing) onEvent({ kind: 'working' });
    if (lost > 0) onEvent({ kind: 'lost', lines: lost });
    isFailing = false;
    lost = 0;
  };
  const timer = setInterval(() => {
    makeLines();
    if (waiting.length > 0 || rest.length > 0) flush();
  }, flushMs).unref();

  return {
    write(value, longestText) {
      values.push(value);
      if (values.length < batchValues && longestText < batchLength) return;
      makeLines();
      // While writing fails only the timer retries, so that no request pays for it.
      if (!isFailing) flush();
    },
    close() {
      clearInterval(timer);
      makeLines();
      flush();
      lost += waiting.length + rest.toString().trimStart().split('\n').length - 1;
      if (lost > 0) onEvent({ kind: 'lost', lines: lost });
      closeSync(descriptor);
    },
  };
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
