import { type Paint, painter } from '../lib/paint.ts';
import { prettyLine } from '../record/pretty.ts';
import type { ExchangeRecord } from '../record/record.ts';
import { createRecorder, type LogLevel, type Recorder } from '../record/recorder.ts';

/** The gateway's log: lines for a person, or JSON lines with structured details. */
export type ServeLog = (level: LogLevel, message: string, details?: object) => void;

interface LogOptions {
  readonly stderr: { write(text: string): unknown };
  readonly recorder: Recorder;
  readonly isPretty: boolean;
  readonly isQuiet: boolean;
  readonly paint: Paint;
}

const colours = { info: 'green', warn: 'yellow', error: 'red' } as const;

export function createServeLog({ stderr, recorder, isPretty, isQuiet, paint }: LogOptions): ServeLog {
  return (level, message, details) => {
    if (!isPretty) recorder.log(level, message, details);
    else if (!isQuiet || level !== 'info') stderr.write(`${paint(colours[level], message)}\n`);
  };
}

/** Where records are written and shown. Plain data, which is also sent to workers. */
export interface Recording {
  readonly file: string;
  /** How many days they are kept; undefined: for ever. */
  readonly days: number | undefined;
  /** What stderr gets: lines for a person, JSON, or of exchanges only what warns. */
  readonly shown: 'pretty' | 'json' | 'nothing';
  readonly hasColour: boolean;
  /** Whether several processes write. */
  readonly isShared: boolean;
}

interface Stderr {
  write(text: string): unknown;
}

/** Throws where the file can't be opened. */
export function openRecorder(
  { file, days, shown, hasColour, isShared }: Recording,
  stderr: Stderr,
): Recorder {
  const paint = painter(hasColour);
  const pretty = (record: ExchangeRecord) => void stderr.write(prettyLine(record, paint));
  const warnings = (record: ExchangeRecord) => {
    if (record.broken_placeholders !== undefined) pretty(record);
  };
  const show = { pretty, nothing: warnings, json: undefined }[shown];
  return createRecorder({ file, days, isShared, stderr, show });
}
