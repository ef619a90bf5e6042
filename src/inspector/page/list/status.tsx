import type { ExchangeRow } from '../../contract/exchange-list.ts';
import { shows } from '../../contract/show.ts';
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
