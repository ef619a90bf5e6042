import { type ExchangeRow, shows, type Times } from '../../contract/exchange-list.ts';
import { formatDuration } from '../format.ts';
import { visibleLine } from '../text/visible.ts';

/** What the policies decided, and how an exchange ended that they allowed. */
const kinds = {
  allow: 'allowed',
  warn: 'warned',
  mask: 'masked',
  redact: 'redacted',
  block: 'blocked',
  refused: 'refused',
  failed: 'failed',
  left: 'left',
} as const;

export function StatusCell({ row }: { readonly row: ExchangeRow }) {
  if (row.state === 'open') return <span class="status open">open</span>;
  if (row.outcome === 'left') return <span class="status left">left</span>;
  // The status was sent before the answer broke off, or was blocked.
  const isCut = row.outcome !== 'answered' && row.status > 0 && row.status < 400;
  const kind = shows.failed(row) ? 'failed' : isCut || row.status >= 400 ? 'refused' : 'fine';
  return (
    <span class={`status ${kind}`} title={isCut ? `cut off after status ${row.status}` : undefined}>
      {isCut ? 'cut' : row.status || 'none'}
    </span>
  );
}

/** The decision and the rule that made it; if no rule did, how the exchange ended and why. */
export function DecisionCell({ row }: { readonly row: ExchangeRow }) {
  const { decision, outcome, rule, reason, would_block: dry } = row;
  // Refused by no rule, such as by a used-up budget: what the rules decided before is no longer the answer.
  const isRefusedElsewhere = outcome === 'refused' && decision !== 'block' && reason !== undefined;
  const monitored = dry === undefined ? undefined : `monitor: ${dry.join(', ')}`;
  const detail = isRefusedElsewhere ? reason : (rule ?? reason ?? monitored);
  const isWarning = decision === 'allow' && dry !== undefined;
  const ending = outcome === 'answered' ? undefined : outcome;
  // “allowed” beside the reason of a failure reads as a contradiction.
  const isOther = (decision ?? 'allow') === 'allow' && !isWarning && reason !== undefined;
  const kind = isRefusedElsewhere || isOther ? ending : isWarning ? 'warn' : decision;
  return (
    <>
      {kind !== undefined && <span class={`decision ${kind}`}>{kinds[kind]}</span>}
      {detail !== undefined && <bdi class="detail">{visibleLine(detail)}</bdi>}
    </>
  );
}

/** The phases in their order, with what each means and its colour. */
export const parts = (
  [
    ['read', 'until the body had arrived', 5],
    ['decide', 'parsing and rules', 4],
    ['queue', 'waiting for a slot at the provider', 6],
    ['connect', 'until it was being sent, including earlier attempts', 3],
    ['first_byte', 'waiting for the first byte', 2],
    ['stream', 'from the first byte to the end', 1],
  ] as const satisfies readonly (readonly [name: keyof Times, explanation: string, color: number])[]
).map(([name, explanation, color]) => ({
  name,
  title: name.replace('_', ' '),
  explanation,
  background: `var(--series-${color})`,
}));

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
export function niceScale(maxMs: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(maxMs, 1)));
  return (
    [1, 1.5, 2, 2.5, 3, 4, 5, 7.5, 10].map((step) => step * power).find((step) => step >= maxMs) ?? power * 10
  );
}
