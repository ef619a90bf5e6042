import { type Logger, pino } from 'pino';
import { type LineFileNews, openLineFile } from './line-file.ts';
import type { ExchangeRecord, WriteRecord } from './record.ts';

interface RecorderOptions {
  /** Where the JSON lines go; none are kept without it. */
  readonly file?: string | undefined;
  /** Whether other processes append to the same file. */
  readonly isShared?: boolean;
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
export function createRecorder({ file, isShared = false, show, stderr }: RecorderOptions): Recorder {
  // Made when first needed: who watches a quiet gateway never needs it, and it takes 10 ms to load.
  let made: Logger | undefined;
  const log = () => {
    made ??= pino({ base: null, timestamp: false }, stderr);
    return made;
  };
  const say: Recorder['say'] = (level, message, facts = {}) =>
    log()[level]({ time: new Date().toISOString(), ...facts }, message);
  const lines = file === undefined ? undefined : openLineFile(file, { isShared, tell: toldBy(say, file) });
  return {
    write: (record) => {
      if (show !== undefined) show(record);
      else log().info({ ...record, request_body: undefined }, 'exchange');
      lines?.write(record, record.request_body?.length ?? 0);
    },
    say,
    close: () => lines?.close(),
  };
}

/** Says in the log what becomes of the records' file. */
function toldBy(say: Recorder['say'], file: string) {
  return (news: LineFileNews): void => {
    switch (news.kind) {
      case 'failing':
        return say('error', 'records wait: their file can not be written', { file, cause: news.cause });
      case 'working':
        return say('info', 'records are written again', { file });
      case 'lost':
        return say('error', 'records were lost: their file could not be written', {
          file,
          lines: news.lines,
        });
    }
  };
}
