import type { Paint } from '../paint.ts';
import type { LogLevel, Recorder } from '../record/recorder.ts';

/** The gateway's log: lines for a person, or JSON lines with structured facts. */
export type ServeLog = (level: LogLevel, message: string, facts?: object) => void;

interface LogOptions {
  readonly stderr: { write(text: string): unknown };
  readonly recorder: Recorder;
  readonly isPretty: boolean;
  readonly isQuiet: boolean;
  readonly paint: Paint;
}

const colours = { info: 'green', warn: 'yellow', error: 'red' } as const;

export function createServeLog({ stderr, recorder, isPretty, isQuiet, paint }: LogOptions): ServeLog {
  return (level, message, facts) => {
    if (!isPretty) recorder.log(level, message, facts);
    else if (!isQuiet || level !== 'info') stderr.write(`${paint(colours[level], message)}\n`);
  };
}
