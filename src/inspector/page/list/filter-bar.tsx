import type { Show } from '../../contract/show.ts';
import { type Filter, isNarrowed, noFilter, showNames } from '../filter.ts';
import { formatDuration, formatWhole } from '../format.ts';
import { visibleLine } from '../text/visible.ts';

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
        any="all projects"
        value={filter.project}
        values={projects}
        onChange={(project) => change({ project })}
      />
      <Choice
        label="Model"
        any="all models"
        value={filter.model}
        values={models}
        onChange={(model) => change({ model })}
      />
      <select
        aria-label="Slower than"
        value={String(filter.slower ?? '')}
        onChange={(event) => change({ slower: Number(event.currentTarget.value) || undefined })}
      >
        <option value="">any time</option>
        {steps.map((ms) => (
          <option key={ms} value={String(ms)}>
            ≥ {formatDuration(ms)}
          </option>
        ))}
      </select>
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

interface ChoiceProperties {
  readonly label: string;
  readonly any: string;
  readonly value: string;
  readonly values: readonly string[];
  onChange(value: string): void;
}

function Choice({ label, any, value, values, onChange }: ChoiceProperties) {
  const all = value === '' || values.includes(value) ? values : [value, ...values];
  return (
    <select aria-label={label} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      <option value="">{any}</option>
      {all.map((one) => (
        <option key={one} value={one}>
          {visibleLine(one).slice(0, 80)}
        </option>
      ))}
    </select>
  );
}
