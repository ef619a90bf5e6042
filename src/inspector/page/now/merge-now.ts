import type { NowAnswer } from '../../contract/now.ts';

const minuteMs = 60_000;
const minutesShown = 60;

/** Whether there are minutes between those that are known and those of an event. */
export function hasGap(known: NowAnswer | undefined, update: NowAnswer): boolean {
  const last = known?.minutes.at(-1)?.time;
  const first = update.minutes[0]?.time;
  return last !== undefined && first !== undefined && Date.parse(first) - Date.parse(last) > minuteMs;
}

/** Merges an event's minutes, the newest two only, into those that are known; those before a gap are dropped. */
export function mergeNow(known: NowAnswer | undefined, update: NowAnswer): NowAnswer {
  if (known === undefined || hasGap(known, update)) return update;
  const first = update.minutes[0]?.time ?? '';
  const older = known.minutes.filter(({ time }) => time < first);
  return { ...update, minutes: [...older, ...update.minutes].slice(-minutesShown) };
}
