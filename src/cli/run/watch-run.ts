import type { Run } from '../../lib/run-key.ts';
import { followRecords } from '../../record/read-records.ts';
import type { CommonOptions } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';
import { note } from '../shell/print/print.ts';
import { recordsFile } from '../shell/running-configuration.ts';

/** Shares of what it may use at which a run is warned of. */
const shares = [0.95, 0.75] as const;

interface Watched {
  readonly max: number;
  readonly words: string;
  /** How to raise it. */
  readonly raise: string;
  used: number;
  /** The share that was reported last. */
  reported: number;
}

/**
 * Reports once on stderr that a run has used 75 %, and once 95 %, of what it may, since no agent shows it; until the signal.
 * What it was raised by meanwhile is not known here.
 */
export async function watchRun(
  { id, budget, requests }: Run,
  options: CommonOptions,
  io: Io,
  signal: AbortSignal,
): Promise<void> {
  const money = watched(budget, `US$ ${budget}`, 'N');
  const count = watched(requests, `${requests} requests`, '--requests N');
  for await (const record of await followRecords(await recordsFile(options, io), signal)) {
    if (record.run !== id || (record.attempts ?? 0) === 0) continue;
    money.used += record.cost_usd ?? 0;
    count.used += 1;
    for (const limit of [money, count]) {
      const { max, used, words, raise } = limit;
      const share = shares.find((each) => used >= each * max) ?? 0;
      if (share <= limit.reported) continue;
      limit.reported = share;
      const state = `this run has used ${Math.floor((100 * used) / max)} % of its ${words}`;
      await note(`gateway: ${state}; "gateway sessions raise ${id} ${raise}" allows more\n`, io);
    }
  }
}

function watched(max = Number.POSITIVE_INFINITY, words: string, raise: string): Watched {
  return { max, words, raise, used: 0, reported: 0 };
}
