import type { Times } from '../../contract/exchange-list.ts';
import { formatDuration } from '../format.ts';

export const parts = [
  { name: 'read', title: 'read', background: 'var(--series-5)' },
  { name: 'decide', title: 'decide', background: 'var(--series-4)' },
  { name: 'queue', title: 'queue', background: 'var(--series-6)' },
  { name: 'connect', title: 'connect', background: 'var(--series-3)' },
  { name: 'first_byte', title: 'first byte', background: 'var(--series-2)' },
  { name: 'stream', title: 'stream', background: 'var(--series-1)' },
] as const satisfies readonly { readonly name: keyof Times; readonly title: string; background: string }[];

/** The phases of an exchange, one after the other; `scaleMs` milliseconds fill the width. */
export function TimeBar({ times, scaleMs }: { readonly times: Times | undefined; readonly scaleMs: number }) {
  if (times === undefined) return <span class="time-bar" />;
  const known = parts.filter(({ name }) => times[name] !== undefined);
  const label = known.map(({ name, title }) => `${title} ${formatDuration(times[name] ?? 0)}`).join(', ');
  return (
    <span class="time-bar" title={label}>
      {known.map(({ name, background }) => (
        <i key={name} style={{ background, width: `${((times[name] ?? 0) / scaleMs) * 100}%` }} />
      ))}
    </span>
  );
}

/** The next round number, so that bars keep their length while exchanges come and go. */
export function niceScale(longestMs: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(longestMs, 1)));
  return (
    [1, 1.5, 2, 2.5, 3, 4, 5, 7.5, 10].map((step) => step * power).find((step) => step >= longestMs) ??
    power * 10
  );
}
