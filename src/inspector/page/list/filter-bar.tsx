import type { Show } from '../../contract/exchange-list.ts';
import { type Filter, isNarrowed, noFilter, showNames } from '../filter.ts';
import { formatDuration, formatWhole } from '../format.ts';
import { Choice } from '../shell/controls.tsx';

interface Properties {
  readonly filter: Filter;
  readonly projects: readonly string[];
  readonly models: readonly string[];
  readonly counts: Readonly<Record<Show, number>>;
  onFilter(filter: Filter): void;
  readonly isPaused: boolean;
  /** How many exchanges came in while the list was paused. */
  readonly unseen: number;
  onPause(): void;
  readonly summary: string;
  /** How many exchanges matched when the filter was changed, for screen readers; empty without a filter. */
  readonly matching: string;
}

const slowerSteps = [100, 500, 1000, 5000, 30_000];

export function FilterBar({
  filter,
  projects,
  models,
  counts,
  onFilter,
  isPaused,
  unseen,
  onPause,
  summary,
  matching,
}: Properties) {
  const change = (part: Partial<Filter>) => onFilter({ ...filter, ...part });
  const toggle = (show: Show) =>
    change({ show: showNames.filter((one) => filter.show.includes(one) !== (one === show)) });
  const steps = [...new Set([...slowerSteps, ...(filter.slower === undefined ? [] : [filter.slower])])];
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
            {show === 'redacted' ? 'redacted/masked' : show} <b>{formatWhole(counts[show])}</b>
          </button>
        ))}
      </div>
      <Choice
        label="Project"
        none="all projects"
        value={filter.project}
        options={projects.map((name) => [name, name])}
        onChange={(project) => change({ project })}
      />
      <Choice
        label="Model"
        none="all models"
        value={filter.model}
        options={models.map((name) => [name, name])}
        onChange={(model) => change({ model })}
      />
      <Choice
        label="Slower than"
        none="any time"
        value={String(filter.slower ?? '')}
        options={steps.map((ms) => [String(ms), `≥ ${formatDuration(ms)}`])}
        onChange={(ms) => change({ slower: Number(ms) || undefined })}
      />
      <div class="filter-end">
        {isNarrowed(filter) && (
          <button type="button" class="quiet" onClick={() => onFilter(noFilter)}>
            Clear
          </button>
        )}
        <span class="summary">{summary}</span>
        <span class="unseen" role="status">
          {matching}
        </span>
        <button type="button" class="pause" aria-pressed={isPaused} aria-keyshortcuts="p" onClick={onPause}>
          {isPaused ? `Resume${unseen > 0 ? ` (${formatWhole(unseen)} new)` : ''}` : 'Pause'}
        </button>
      </div>
    </search>
  );
}
