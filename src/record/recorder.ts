import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Logger, pino } from 'pino';
import { GatewayError } from '../errors.ts';
import { makeDirectory } from '../lib/directories.ts';
import { DailyFile } from './daily-file.ts';
import { LineFile, type LineFileEvent } from './line-file.ts';
import type { ExchangeRecord, WriteRecord } from './record.ts';

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
