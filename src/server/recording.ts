import { painter } from '../paint.ts';
import { prettyLine } from '../record/pretty.ts';
import type { ExchangeRecord } from '../record/record.ts';
import { createRecorder, type Recorder } from '../record/recorder.ts';

/** Where records are written and shown. Plain data, which is also sent to workers. */
export interface Recording {
  readonly file: string;
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
export function openRecorder({ file, shown, hasColour, isShared }: Recording, stderr: Stderr): Recorder {
  const paint = painter(hasColour);
  const pretty = (record: ExchangeRecord) => void stderr.write(prettyLine(record, paint));
  const warnings = (record: ExchangeRecord) => {
    if (record.broken_placeholders !== undefined) pretty(record);
  };
  const show = { pretty, nothing: warnings, json: undefined }[shown];
  return createRecorder({ file, isShared, stderr, show });
}
