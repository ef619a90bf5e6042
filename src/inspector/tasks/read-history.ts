import type { LedgerPlace } from '../../record/ledger/ledger-store.ts';
import { readUsage } from '../../record/ledger/read-ledger.ts';
import type { HistoryResponse, HistoryStep } from '../contract/events.ts';

const hourMs = 3_600_000;

export interface HistoryQuery {
  readonly place: LedgerPlace;
  readonly by: HistoryResponse['by'];
  readonly sinceMs: number;
  readonly nowMs: number;
}

/** Usage by hour or day in this machine's time zone, including hours or days without any. */
export async function readHistory({ place, by, sinceMs, nowMs }: HistoryQuery): Promise<HistoryResponse> {
  const starts = startsOf(by, sinceMs, nowMs);
  const steps = new Map(starts.map((ms) => [isoOf(ms), empty(ms)]));
  const dayOf = (ms: number) => isoOf(startOf(by, ms));
  const sums = await readUsage(place, { by: 'day', sinceMs: startOf(by, sinceMs), dayOf });
  for (const { name, ...sum } of sums) {
    steps.set(name, {
      time: name,
      requests: sum.requests,
      tokens: { input: sum.input_tokens, output: sum.output_tokens, cached: sum.cache_read_tokens },
      cost_usd: sum.cost_usd,
    });
  }
  return { by, steps: [...steps.values()].sort((one, other) => (one.time < other.time ? -1 : 1)) };
}

function startsOf(by: HistoryResponse['by'], sinceMs: number, nowMs: number): readonly number[] {
  const starts: number[] = [];
  // Days differ in length, but not by half of one.
  const stepMs = by === 'hour' ? hourMs : 36 * hourMs;
  for (let ms = startOf(by, sinceMs); ms <= nowMs; ms = startOf(by, ms + stepMs)) starts.push(ms);
  return starts;
}

function startOf(by: HistoryResponse['by'], ms: number): number {
  const date = new Date(ms);
  if (by === 'day') return date.setHours(0, 0, 0, 0);
  // Not setMinutes(0), which takes the second of two equal hours, at the end of summer time, for the first.
  return ms - (date.getMinutes() * 60_000 + date.getSeconds() * 1_000 + date.getMilliseconds());
}

function empty(ms: number): HistoryStep {
  return { time: isoOf(ms), requests: 0, tokens: { input: 0, output: 0, cached: 0 }, cost_usd: 0 };
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}
