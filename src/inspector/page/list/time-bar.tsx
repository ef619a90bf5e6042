import type { Times } from '../../contract/exchange-list.ts';
import { formatDuration } from '../format.ts';

export const parts = [
  { name: 'read', title: 'read' },
  { name: 'decide', title: 'decide' },
  { name: 'queue', title: 'queue' },
  { name: 'connect', title: 'connect' },
  { name: 'first_byte', title: 'first byte' },
  { name: 'stream', title: 'stream' },
] as const satisfies readonly { readonly name: keyof Times; readonly title: string }[];

/** The phases of an exchange, one after the other; `scaleMs` milliseconds fill the width. */
export function TimeBar({ times, scaleMs }: { readonly times: Times | undefined; readonly scaleMs: number }) {
  if (times === undefined) return <span class="time-bar" />;
  const known = parts.filter(({ name }) => times[name] !== undefined);
  const label = known.map(({ name, title }) => `${title} ${formatDuration(times[name] ?? 0)}`).join(', ');
  return (
    <span class="time-bar" title={label}>
      {known.map(({ name }) => (
        <i key={name} class={name} style={{ width: `${((times[name] ?? 0) / scaleMs) * 100}%` }} />
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
