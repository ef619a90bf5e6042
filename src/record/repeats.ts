import type { ExchangeRecord, WriteRecord } from './record.ts';

interface Seen {
  readonly record: ExchangeRecord;
  readonly timer: NodeJS.Timeout;
  repeats: number;
}

const windowMs = 60_000;
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
      seen.set(key, { record, repeats: 0, timer: setTimeout(() => settle(key), windowMs).unref() });
    },
    /** Writes what was counted and not written yet. */
    close: (): void => {
      for (const key of [...seen.keys()]) settle(key);
    },
  };
}
