import { useMemo, useState } from 'preact/hooks';
import type { ExchangeRow } from '../../contract/exchange-list.ts';
import { type Filter, isNarrowed, toPredicate } from '../filter.ts';
import { formatWhole } from '../format.ts';
import type { Live } from '../live.ts';
import { CopyButton } from '../shell/controls.tsx';
import { ExchangeList } from './exchange-list.tsx';
import { FilterBar } from './filter-bar.tsx';

interface Properties {
  readonly live: Live;
  readonly filter: Filter;
  readonly selected: string | undefined;
  readonly isPaused: boolean;
  onFilter(filter: Filter): void;
  onPause(): void;
  /** Reports the rows that are shown, newest first, for keyboard navigation. */
  readonly shown: { current: readonly ExchangeRow[] };
}

export function TrafficView({ live, filter, selected, isPaused, onFilter, onPause, shown }: Properties) {
  const [frozen, setFrozen] = useState<readonly ExchangeRow[]>();
  if (isPaused && frozen === undefined) setFrozen([...live.traffic.rows]);
  if (!isPaused && frozen !== undefined) setFrozen(undefined);
  const all = (isPaused ? frozen : undefined) ?? live.traffic.rows;
  const isWanted = useMemo(() => toPredicate(filter), [filter]);
  const rows = all.filter(isWanted).reverse();
  shown.current = rows;
  // For screen readers, and not with every exchange that comes in: that would be read out without an end.
  const matching = useMemo(
    () =>
      isNarrowed(filter) ? `${formatWhole(rows.length)} of ${formatWhole(all.length)} exchanges match` : '',
    [filter],
  );
  const newest = frozen?.at(-1)?.seq ?? 0;
  const unseen = isPaused ? live.traffic.rows.filter(({ seq }) => seq > newest).length : 0;
  return (
    <>
      <FilterBar filter={filter} rows={all} onFilter={onFilter}>
        <span class="summary">
          {isNarrowed(filter) && `${formatWhole(rows.length)} of `}
          {formatWhole(all.length)}
          {all.length === 1 ? ' exchange' : ' exchanges'}
          {live.skipped > 0 && `, ${formatWhole(live.skipped)} more came too fast`}
        </span>
        <span class="unseen" role="status">
          {matching}
        </span>
        <button type="button" class="pause" aria-pressed={isPaused} aria-keyshortcuts="p" onClick={onPause}>
          {isPaused ? `Resume${unseen > 0 ? ` (${formatWhole(unseen)} new)` : ''}` : 'Pause'}
        </button>
      </FilterBar>
      <ExchangeList rows={rows} selected={selected} empty={<Empty live={live} filter={filter} />} />
    </>
  );
}

function Empty({ live, filter }: { readonly live: Live; readonly filter: Filter }) {
  if (live.failure !== undefined) return <p>{live.failure}</p>;
  if (!live.isLoaded) return <p>Loading …</p>;
  if (isNarrowed(filter)) return <p>No exchange matches this filter.</p>;
  return (
    <>
      <p>Nothing yet. Requests appear here as they happen; this sends one:</p>
      <CommandLine text='gateway send "hello"' />
      <p>To send what an application sends, give it the base URL {`${location.origin}/v1`} and a key:</p>
      <CommandLine text={'eval "$(gateway env openai)"'} />
      <p>
        sets both for the OpenAI SDKs, and “gateway env” lists the others. “gateway key show” prints the key
        that was made for you; “gateway key new --project NAME” makes one where projects are configured.
      </p>
    </>
  );
}

function CommandLine({ text }: { readonly text: string }) {
  return (
    <p class="command-line">
      <code>{text}</code> <CopyButton text={text} />
    </p>
  );
}
