import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setImmediate as nextTick } from 'node:timers/promises';
import { type Logger, pino } from 'pino';
import { GatewayError } from '../errors.ts';
import { makeDirectory } from '../lib/directories.ts';
import { DailyFile } from './daily-file.ts';
import type { ExchangeRecord, WriteRecord } from './record.ts';

// Where records go: to stderr, and as lines into a file, refusals that repeat only once.

interface RecorderOptions {
  /** Where the JSON lines go. */
  readonly file: string;
  /** How many days they are kept, in a file for each day; undefined: in one file, for ever. */
  readonly days?: number | undefined;
  /** Whether other processes append to the same file. */
  readonly isShared?: boolean;
  /** Shows a record to a person; replaces the JSON lines on stderr. */
  readonly show?: ((record: ExchangeRecord) => void) | undefined;
  readonly stderr: { write(text: string): unknown };
  /** Opens the file; for tests with a device that is always full. */
  readonly open?: (file: string) => number;
}

export type LogLevel = 'info' | 'warn' | 'error';

export interface Recorder {
  readonly write: WriteRecord;
  /** Writes a line about the gateway itself. */
  readonly log: (level: LogLevel, message: string, details?: object) => void;
  /** Flushes everything to the system before it returns. */
  close(): void;
}

/** Writes one JSON line per exchange on stderr (or shows it) and into the file. Throws if that can't be opened, or isn't a file of records. */
export function createRecorder(options: RecorderOptions): Recorder {
  const { file, days, isShared = false, show, stderr, open = openOwnFile } = options;
  // Made when first needed: it takes 10 ms to load.
  let made: Logger | undefined;
  const logger = () => {
    made ??= pino({ base: null, timestamp: false }, stderr);
    return made;
  };
  const log: Recorder['log'] = (level, message, details = {}) =>
    logger()[level]({ time: new Date().toISOString(), ...details }, message);
  const onFailure = (cause: string) =>
    log('warn', 'records go on in the file of the day before', { file, cause });
  const daily = new DailyFile(file, { open, days, onFailure });
  const lines = new LineFile<ExchangeRecord>(daily, {
    isShared,
    long: 'request_body',
    onEvent: logEvents(log, file),
    onLines:
      show === undefined ? (records) => void stderr.write(records.map(exchangeLine).join('')) : undefined,
  });
  return {
    write: (record) => {
      show?.(record);
      lines.write(record);
      if (show !== undefined || record.broken_placeholders === undefined) return;
      const { time, request_id, broken_placeholders } = record;
      lines.flush();
      logger().warn({ time, request_id, broken_placeholders }, 'placeholders came back broken');
    },
    log: (...line) => {
      lines.flush();
      log(...line);
    },
    close: () => lines.close(),
  };
}

/** A record's JSON as pino writes it: each record is made into JSON once, for file and stderr. */
function exchangeLine(record: string): string {
  return `{"level":${pino.levels.values.info},${record.slice(1, -1)},"msg":"exchange"}\n`;
}

function logEvents(log: Recorder['log'], file: string) {
  return (event: LineFileEvent): void => {
    switch (event.kind) {
      case 'failing':
        return log('error', 'records wait: their file cannot be written', { file, cause: event.cause });
      case 'working':
        return log('info', 'records are written again', { file });
      case 'lost':
        return log('error', 'records were lost: their file could not be written', {
          file,
          lines: event.lines,
        });
    }
  };
}

// ---------------------------------------------------------------- repeated refusals

interface Seen {
  readonly record: ExchangeRecord;
  readonly timer: NodeJS.Timeout;
  repeats: number;
}

const repeatWindowMs = 60_000;
// Clients choose how many different refusals they provoke; beyond this each is written.
const knownRefusals = 1_000;

/**
 * Some agents repeat a refused request, six times within seconds. The first is recorded at once; the others become one
 * more record when the minute is over: the first one's, with `repeats`.
 */
export function foldRepeats(write: WriteRecord) {
  const seen = new Map<string, Seen>();

  const settle = (key: string) => {
    const entry = seen.get(key);
    if (entry === undefined) return;
    seen.delete(key);
    clearTimeout(entry.timer);
    if (entry.repeats > 0) write({ ...entry.record, repeats: entry.repeats });
  };

  return {
    /** Writes a record, unless it repeats one of the last minute: then it is only counted. */
    write: (record: ExchangeRecord, key: string | undefined): void => {
      const known = key === undefined ? undefined : seen.get(key);
      if (known !== undefined) {
        known.repeats += 1;
        return;
      }
      write(record);
      if (key === undefined || seen.size >= knownRefusals) return;
      seen.set(key, { record, repeats: 0, timer: setTimeout(() => settle(key), repeatWindowMs).unref() });
    },
    /** Writes what was counted and not written yet. */
    close: (): void => {
      for (const key of [...seen.keys()]) settle(key);
    },
  };
}

// ---------------------------------------------------------------- the file

/** How every record begins, also one that was overwritten with spaces since, by `gateway logs rm`. */
const beginning = /^(?:\{"time":"[^"]{20,40}","request_id":"| {45})/;
const beginningBytes = 96;

/**
 * Opens a file to append records to, readable by its owner only, and creates it if needed. Whatever else it might be
 * is refused: a link or a device may lead anywhere, and a line added to another program's file may mean anything to it.
 * Throws config.invalid, and what the system throws.
 */
export function openOwnFile(path: string): number {
  // Neither followed nor waited for: a pipe without a reader, or a terminal.
  const flags =
    constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  makeDirectory(dirname(resolve(path)));
  const descriptor = openFile(path, flags);
  const reason = refusal(descriptor);
  if (reason === undefined) return descriptor;
  closeSync(descriptor);
  throw refused(path, reason);
}

function openFile(path: string, flags: number): number {
  try {
    return openSync(path, flags, 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // what open throws
    if (code === 'ELOOP') throw refused(path, 'it is a symbolic link');
    if (code === 'ENXIO') throw refused(path, 'it is no regular file');
    throw error;
  }
}

function refusal(descriptor: number): string | undefined {
  const stats = fstatSync(descriptor);
  if (!stats.isFile()) return 'it is no regular file';
  if (stats.nlink > 1) return 'it has other names (hard links)';
  const text = firstBytes(descriptor);
  return text === '' || beginning.test(text) ? undefined : 'its first line is no record of the gateway';
}

function firstBytes(descriptor: number): string {
  const bytes = Buffer.alloc(beginningBytes);
  return bytes.toString('latin1', 0, readSync(descriptor, bytes, 0, beginningBytes, 0));
}

function refused(path: string, reason: string): GatewayError {
  return new GatewayError(
    'config.invalid',
    `no records are written to ${path}: ${reason}; name another file in records.file`,
  );
}

// ---------------------------------------------------------------- lines

/** Writing fails, works again, or was given up, with lines lost. */
type LineFileEvent =
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
class LineFile<Value extends object> {
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
