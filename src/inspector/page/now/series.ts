import type { Minute } from '../../contract/now.ts';
import { visibleLine } from '../text/visible.ts';
import type { Series } from './chart.tsx';

export const toSeconds = (time: string) => Date.parse(time) / 1000;

export function sum(values: readonly (number | null)[]): number {
  return values.reduce((total: number, value) => total + (value ?? 0), 0);
}

/** One series for each of the most frequent reasons, as many as there are colours; one for all others together. */
export function byReason(
  minutes: readonly Minute[],
  what: 'blocks' | 'errors',
  colors: readonly string[],
): Series[] {
  const totals = new Map<string, number>();
  for (const minute of minutes) {
    for (const [reason, count] of Object.entries(minute[what]))
      totals.set(reason, (totals.get(reason) ?? 0) + count);
  }
  const reasons = [...totals].sort((a, b) => b[1] - a[1]).map(([reason]) => reason);
  const groups = reasons
    .slice(0, colors.length - 1)
    .map((reason) => ({ name: visibleLine(reason), reasons: [reason] }));
  const rest = reasons.slice(colors.length - 1);
  if (rest.length > 0) {
    groups.push({
      name: rest.length === 1 ? visibleLine(rest[0] ?? '') : `${rest.length} other reasons`,
      reasons: rest,
    });
  }
  return groups.map(({ name, reasons }, index) => ({
    name,
    color: colors[index] ?? '',
    values: minutes.map((minute) => sum(reasons.map((reason) => minute[what][reason] ?? 0))),
  }));
}
