import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { type ExchangeRow, type Show, shows } from '../../contract/exchange-list.ts';
import { type Filter, isNarrowed, noFilter, showNames } from '../filter.ts';
import { formatDuration, formatWhole } from '../format.ts';
import { Choice } from '../shell/controls.tsx';

interface Properties {
  readonly filter: Filter;
  /** All that there are, to choose from and to count. */
  readonly rows: readonly ExchangeRow[];
  onFilter(filter: Filter): void;
  /** At the end of the bar. */
  readonly children: ComponentChildren;
}

const slowerSteps = [100, 500, 1000, 5000, 30_000];

export function FilterBar({ filter, rows, onFilter, children }: Properties) {
  const projects = useMemo(() => namesOf(rows.map(({ project }) => project)), [rows.length]);
  const models = useMemo(() => namesOf(rows.map(({ model }) => model)), [rows.length]);
  const change = (part: Partial<Filter>) => onFilter({ ...filter, ...part });
  const toggle = (show: Show) =>
    change({ show: showNames.filter((one) => filter.show.includes(one) !== (one === show)) });
  return (
    <search class="filter-bar">
      <input
        type="search"
        class="text"
        aria-label="Filter by text"
        aria-keyshortcuts="/"
        placeholder="Filter: model, rule, project, id …"
        value={filter.text}
        onInput={(event) => change({ text: event.currentTarget.value })}
      />
      <div class="toggles" role="group" aria-label="Show only">
        {showNames.map((show) => (
          <button
            type="button"
            key={show}
            class={`toggle ${show}`}
            aria-pressed={filter.show.includes(show)}
            onClick={() => toggle(show)}
          >
            {show === 'redacted' ? 'redacted/masked' : show}{' '}
            <b>{formatWhole(rows.filter(shows[show]).length)}</b>
          </button>
        ))}
      </div>
      <Choice
        label="Project"
        none="all projects"
        value={filter.project}
        options={projects}
        onChange={(project) => change({ project })}
      />
      <Choice
        label="Model"
        none="all models"
        value={filter.model}
        options={models}
        onChange={(model) => change({ model })}
      />
      <Choice
        label="Slower than"
        none="any time"
        value={String(filter.slower ?? '')}
        options={slowerSteps.map((ms) => [String(ms), `≥ ${formatDuration(ms)}`])}
        onChange={(ms) => change({ slower: Number(ms) || undefined })}
      />
      <div class="filter-end">
        <button
          type="button"
          class="quiet clear"
          disabled={!isNarrowed(filter)}
          onClick={() => onFilter(noFilter)}
        >
          Clear
        </button>
        {children}
      </div>
    </search>
  );
}

function namesOf(values: readonly (string | undefined)[]) {
  const names = [...new Set(values)].filter((value) => value !== undefined);
  return names
    .sort()
    .slice(0, 200)
    .map((name) => [name, name] as const);
}
