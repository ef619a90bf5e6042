import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { destination, pino } from 'pino';
import type { ExchangeRecord, WriteRecord } from './record.ts';

interface RecorderOptions {
  /** Where the JSON lines go; none are kept without it. */
  readonly file?: string | undefined;
  /** Shows a record to whoever watches; replaces the JSON lines on stderr. */
  readonly show?: ((record: ExchangeRecord) => void) | undefined;
  readonly stderr: { write(text: string): unknown };
}

export interface Recorder {
  readonly write: WriteRecord;
  /** A line about the gateway itself. */
  readonly say: (level: 'info' | 'warn' | 'error', message: string, facts?: object) => void;
  /** Everything written is on its way to the disk when it returns. */
  close(): void;
}

/** Writes one JSON line per exchange on stderr (unless somebody watches) and into the file. */
export function createRecorder({ file, show, stderr }: RecorderOptions): Recorder {
  const lines = file === undefined ? undefined : openFile(file);
  const log = pino({ base: null, timestamp: false }, stderr);
  return {
    write: (record) => {
      if (show !== undefined) show(record);
      else log.info({ ...record, request_body: undefined }, 'exchange');
      lines?.write(`${JSON.stringify(record)}\n`);
    },
    say: (level, message, facts = {}) => log[level]({ time: new Date().toISOString(), ...facts }, message),
    close: () => lines?.flushSync(),
  };
}

/** Lines are gathered for a moment: a write for each would cost more than the rest of the record. */
function openFile(file: string) {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  return destination({
    dest: file,
    append: true,
    mkdir: false,
    mode: 0o600,
    minLength: 4_096,
    periodicFlush: 200,
    sync: true,
  });
}
