import { useMemo, useState } from 'preact/hooks';
import type { ExchangeRow } from '../../contract/exchange-list.ts';
import { type Filter, isNarrowed, noFilter, toPredicate } from '../filter.ts';
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
  const total = formatWhole(all.length);
  const widest = `${total} of ${total} exchanges`.length;
  const newest = frozen?.at(-1)?.seq ?? 0;
  const unseen = isPaused ? live.traffic.rows.filter(({ seq }) => seq > newest).length : 0;
  return (
    <>
      <FilterBar filter={filter} rows={all} onFilter={onFilter}>
        <span class="summary" style={{ minInlineSize: `${widest * 0.85}ch` }}>
          {isNarrowed(filter) && `${formatWhole(rows.length)} of `}
          {total}
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
      <ExchangeList
        rows={rows}
        selected={selected}
        empty={<Empty live={live} filter={filter} onFilter={onFilter} />}
      />
    </>
  );
}

function Empty({ live, filter, onFilter }: Pick<Properties, 'live' | 'filter' | 'onFilter'>) {
  if (live.failure !== undefined) return <p>{live.failure}</p>;
  if (!live.isLoaded) return <p>Loading …</p>;
  if (isNarrowed(filter))
    return (
      <>
        <p>No exchange matches this filter.</p>
        <p>
          <button type="button" onClick={() => onFilter(noFilter)}>
            Show all exchanges
          </button>
        </p>
      </>
    );
  return (
    <>
      <p>Nothing yet. Requests appear here as they happen. Send one:</p>
      <CommandLine text='gateway send "hello"' />
      <p>Start a coding agent (claude, codex, opencode or gemini) with everything set:</p>
      <CommandLine text="gateway run claude" />
      <p>Set address and key for an application that uses an OpenAI SDK (“gateway env” lists the others):</p>
      <CommandLine text={'eval "$(gateway env openai)"'} />
      <p>
        Every other client needs the base URL {`${location.origin}/v1`}, for Anthropic’s SDKs without /v1, and
        a key. “gateway key show” prints yours; where projects are configured, “gateway key new” makes one.
      </p>
      <p>In a checkout of the repository, each command begins with npx.</p>
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
