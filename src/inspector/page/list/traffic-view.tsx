import { useMemo, useState } from 'preact/hooks';
import type { ExchangeRow } from '../../contract/exchange-list.ts';
import { type Show, shows } from '../../contract/show.ts';
import { type Filter, isNarrowed, showNames, toPredicate } from '../filter.ts';
import { formatWhole } from '../format.ts';
import type { Live } from '../live.ts';
import { ExchangeList } from './exchange-list.tsx';
import { FilterBar } from './filter-bar.tsx';

interface Properties {
  readonly live: Live;
  readonly filter: Filter;
  readonly selected: string | undefined;
  readonly isPaused: boolean;
  onFilter(filter: Filter): void;
  onPause(): void;
  onOpen(row: ExchangeRow): void;
  /** Reports the rows that are shown, newest first, for keyboard navigation. */
  readonly shown: { current: readonly ExchangeRow[] };
}

export function TrafficView({
  live,
  filter,
  selected,
  isPaused,
  onFilter,
  onPause,
  onOpen,
  shown,
}: Properties) {
  const [frozen, setFrozen] = useState<readonly ExchangeRow[]>();
  if (isPaused && frozen === undefined) setFrozen([...live.traffic.rows]);
  if (!isPaused && frozen !== undefined) setFrozen(undefined);
  const all = (isPaused ? frozen : undefined) ?? live.traffic.rows;
  const isWanted = useMemo(() => toPredicate(filter), [filter]);
  const rows = all.filter(isWanted).reverse();
  shown.current = rows;
  const choices = useMemo(() => choicesOf(all), [all.length]);
  const counts = Object.fromEntries(
    showNames.map((show) => [show, all.reduce((count, row) => count + (shows[show](row) ? 1 : 0), 0)]),
  ) as Record<Show, number>; // one of each
  // Not with every exchange that comes in: that would be read out without an end.
  const matching = useMemo(
    () =>
      isNarrowed(filter) ? `${formatWhole(rows.length)} of ${formatWhole(all.length)} exchanges match` : '',
    [filter],
  );
  const newest = frozen?.at(-1)?.seq ?? 0;
  return (
    <>
      <FilterBar
        filter={filter}
        onFilter={onFilter}
        projects={choices.projects}
        models={choices.models}
        counts={counts}
        isPaused={isPaused}
        unseen={isPaused ? live.traffic.rows.filter(({ seq }) => seq > newest).length : 0}
        onPause={onPause}
        matching={matching}
        summary={
          (isNarrowed(filter) ? `${formatWhole(rows.length)} of ` : '') +
          formatWhole(all.length) +
          (all.length === 1 ? ' exchange' : ' exchanges') +
          (live.leftOut > 0
            ? `, and ${formatWhole(live.leftOut)} unremarkable ones while no page was open`
            : '') +
          (live.skipped > 0 ? `, ${formatWhole(live.skipped)} more came too fast` : '')
        }
      />
      <ExchangeList rows={rows} selected={selected} onOpen={onOpen} empty={emptyText(live, filter)} />
    </>
  );
}

function choicesOf(rows: readonly ExchangeRow[]) {
  const sorted = (values: readonly (string | undefined)[]) =>
    [...new Set(values)]
      .filter((value) => value !== undefined)
      .sort()
      .slice(0, 200);
  return {
    projects: sorted(rows.map(({ project }) => project)),
    models: sorted(rows.map(({ model }) => model)),
  };
}

function emptyText(live: Live, filter: Filter): string {
  if (live.failure !== undefined) return live.failure;
  if (!live.isLoaded) return 'Loading …';
  if (isNarrowed(filter)) return 'No exchange matches this filter.';
  return `Nothing yet. Point an application at ${location.origin} and its requests appear here as they happen.`;
}
