import { type ExchangeRow, shows, type Times } from '../../contract/exchange-list.ts';
import { formatDuration } from '../format.ts';
import { visibleLine } from '../text/visible.ts';

const decisions = {
  allow: 'allowed',
  warn: 'warned',
  mask: 'masked',
  redact: 'redacted',
  block: 'blocked',
} as const;

export function Status({ row }: { readonly row: ExchangeRow }) {
  if (row.state === 'open') return <span class="status open">open</span>;
  if (row.outcome === 'left') return <span class="status left">left</span>;
  // The status was sent before the answer broke off, or was blocked.
  if (row.outcome !== 'answered' && row.status > 0 && row.status < 400)
    return (
      <span
        class={`status ${shows.blocked(row) ? 'refused' : 'failed'}`}
        title={`cut off after status ${row.status}`}
      >
        cut
      </span>
    );
  const kind = row.status >= 400 && !shows.failed(row) ? 'refused' : shows.failed(row) ? 'failed' : 'fine';
  return <span class={`status ${kind}`}>{row.status === 0 ? 'none' : row.status}</span>;
}

/** The decision and the rule that made it; if no rule did, why the exchange failed. */
export function Decision({ row }: { readonly row: ExchangeRow }) {
  const { decision, rule, reason, would_block: dry } = row;
  const detail = rule ?? reason ?? (dry === undefined ? undefined : `monitor: ${dry.join(', ')}`);
  const isWarning = decision === 'allow' && dry !== undefined;
  // “allowed” beside the reason of a refusal reads as a contradiction.
  const isElsewhere = decision === 'allow' && !isWarning && reason !== undefined;
  const kind = isWarning ? 'warn' : isElsewhere ? undefined : decision;
  return (
    <>
      {kind !== undefined && <span class={`decision ${kind}`}>{decisions[kind]}</span>}
      {detail !== undefined && <bdi class="detail">{visibleLine(detail)}</bdi>}
    </>
  );
}

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
