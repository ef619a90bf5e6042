import { Component } from 'preact';
import type { ExchangeRow } from '../../contract/exchange-list.ts';
import { formatClock, formatCost, formatCount, formatDuration, formatTime } from '../format.ts';
import { visibleLine } from '../text/visible.ts';
import { Decision, Status } from './status.tsx';
import { TimeBar } from './time-bar.tsx';

/** The list's columns in order: CSS class, and name for people and screen readers. */
export const columns = [
  { name: 'time', title: 'Time' },
  { name: 'status-cell', title: 'Status' },
  { name: 'decision-cell', title: 'Decision' },
  { name: 'project', title: 'Project' },
  { name: 'client', title: 'Client' },
  { name: 'model', title: 'Model → provider' },
  { name: 'input', title: 'In' },
  { name: 'output', title: 'Out' },
  { name: 'cached', title: 'Cached' },
  { name: 'cost', title: 'Cost' },
  { name: 'first', title: 'First byte' },
  { name: 'total', title: 'Total' },
  { name: 'bar', title: 'Time spent' },
] as const;

type ColumnName = (typeof columns)[number]['name'];

/** Narrow lists leave columns out, so each cell says which one it is in. */
export const columnIndex = Object.fromEntries(
  columns.map(({ name }, index) => [name, index + 1]),
) as Readonly<Record<ColumnName, number>>; // one of each

interface Properties {
  readonly row: ExchangeRow;
  /** From the top of the list, the header included. */
  readonly index: number;
  readonly rowHeight: number;
  readonly isSelected: boolean;
  readonly scaleMs: number;
  onOpen(row: ExchangeRow): void;
}

export const rowId = (seq: number) => `exchange-${seq}`;

/** Rendered again only when its data has changed: that is what makes a list of 10,000 scroll smoothly. */
export class Row extends Component<Properties> {
  override shouldComponentUpdate(next: Properties): boolean {
    return (['row', 'index', 'rowHeight', 'isSelected', 'scaleMs'] as const).some(
      (name) => next[name] !== this.props[name],
    );
  }

  override render({ row, index, rowHeight, isSelected, scaleMs, onOpen }: Properties) {
    const { tokens } = row;
    const estimate = tokens?.estimated === true ? '~' : '';
    return (
      <div
        role="row"
        id={rowId(row.seq)}
        class={`row ${row.decision ?? ''} ${row.state}`}
        aria-rowindex={index + 2}
        aria-selected={isSelected}
        style={{ transform: `translateY(${index * rowHeight}px)` }}
        onClick={() => onOpen(row)}
      >
        <Cell name="time" title={formatTime(row.time)} text={formatClock(row.time)} />
        <span role="gridcell" class="cell status-cell" aria-colindex={columnIndex['status-cell']}>
          <Status row={row} />
        </span>
        <span role="gridcell" class="cell decision-cell" aria-colindex={columnIndex['decision-cell']}>
          <Decision row={row} />
        </span>
        <Cell name="project" text={row.project} />
        <Cell name="client" text={row.client} />
        <span role="gridcell" class="cell model" aria-colindex={columnIndex.model}>
          <bdi>{visibleLine(row.model ?? row.path)}</bdi>
          {row.provider !== undefined && (
            <>
              <span class="arrow"> → </span>
              <bdi class="provider">{visibleLine(row.provider)}</bdi>
            </>
          )}
        </span>
        <Cell name="input" isNumber text={tokens && estimate + formatCount(tokens.input)} />
        <Cell name="output" isNumber text={tokens && estimate + formatCount(tokens.output)} />
        <Cell name="cached" isNumber text={tokens?.cached ? formatCount(tokens.cached) : undefined} />
        <Cell name="cost" isNumber text={row.cost_usd === undefined ? undefined : formatCost(row.cost_usd)} />
        <Cell
          name="first"
          isNumber
          text={row.first_byte_ms === undefined ? undefined : formatDuration(row.first_byte_ms)}
        />
        <Cell
          name="total"
          isNumber
          text={row.total_ms === undefined ? undefined : formatDuration(row.total_ms)}
        />
        <span role="gridcell" class="cell bar" aria-colindex={columnIndex.bar}>
          <TimeBar times={row.times} scaleMs={scaleMs} />
        </span>
      </div>
    );
  }
}

interface CellProperties {
  readonly name: ColumnName;
  readonly isNumber?: boolean;
  readonly text: string | undefined;
  readonly title?: string;
}

function Cell({ name, isNumber, text, title }: CellProperties) {
  return (
    <span
      role="gridcell"
      class={isNumber ? `cell ${name} number` : `cell ${name}`}
      aria-colindex={columnIndex[name]}
      title={title}
      dir="auto"
    >
      {text === undefined ? '' : visibleLine(text)}
    </span>
  );
}
