import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import type { ExchangeRow } from '../../contract/exchange-list.ts';
import { formatClock, formatCost, formatCount, formatDuration, formatTime } from '../format.ts';
import { openExchange } from '../navigate.ts';
import { visibleLine } from '../text/visible.ts';
import { DecisionCell, StatusCell, TimeBar } from './cells.tsx';

interface Column {
  /** Its CSS class. */
  readonly name: string;
  /** For people and screen readers. */
  readonly title: string;
  readonly isNumber?: boolean;
  cell(row: ExchangeRow, scaleMs: number): ComponentChildren;
  hint?(row: ExchangeRow): string;
}

/** In order; narrow lists leave some out, so each cell says which one it is in. */
export const columns: readonly Column[] = [
  {
    name: 'time',
    title: 'Time',
    cell: ({ time }) => formatClock(time),
    hint: ({ time }) => formatTime(time),
  },
  { name: 'status-cell', title: 'Status', cell: (row) => <StatusCell row={row} /> },
  { name: 'decision-cell', title: 'Decision', cell: (row) => <DecisionCell row={row} /> },
  { name: 'project', title: 'Project', cell: ({ project }) => lineOf(project) },
  { name: 'client', title: 'Client', cell: ({ client }) => lineOf(client) },
  {
    name: 'model',
    title: 'Model → provider',
    cell: ({ model, path, provider }) => (
      <>
        <bdi>{visibleLine(model ?? path)}</bdi>
        {provider !== undefined && <span class="arrow"> → </span>}
        {provider !== undefined && <bdi class="provider">{visibleLine(provider)}</bdi>}
      </>
    ),
  },
  { name: 'input', title: 'In', isNumber: true, cell: (row) => tokensOf(row, 'input') },
  { name: 'output', title: 'Out', isNumber: true, cell: (row) => tokensOf(row, 'output') },
  {
    name: 'cached',
    title: 'Cached',
    isNumber: true,
    cell: ({ tokens }) => (tokens?.cached ? formatCount(tokens.cached) : ''),
  },
  {
    name: 'cost',
    title: 'Cost',
    isNumber: true,
    cell: ({ cost_usd: usd }) => usd !== undefined && formatCost(usd),
  },
  { name: 'first', title: 'First byte', isNumber: true, cell: ({ first_byte_ms: ms }) => durationOf(ms) },
  { name: 'total', title: 'Total', isNumber: true, cell: ({ total_ms: ms }) => durationOf(ms) },
  {
    name: 'bar',
    title: 'Time spent',
    cell: ({ times }, scaleMs) => <TimeBar times={times} scaleMs={scaleMs} />,
  },
];

function lineOf(text = ''): string {
  return visibleLine(text);
}

function tokensOf({ tokens }: ExchangeRow, kind: 'input' | 'output'): string {
  return tokens === undefined ? '' : (tokens.estimated === true ? '~' : '') + formatCount(tokens[kind]);
}

function durationOf(ms: number | undefined): string {
  return ms === undefined ? '' : formatDuration(ms);
}

interface Properties {
  readonly row: ExchangeRow;
  /** From the top of the list, the header included. */
  readonly index: number;
  readonly rowHeight: number;
  readonly isSelected: boolean;
  readonly scaleMs: number;
}

export const cellClass = ({ name, isNumber = false }: Column) => `cell ${name}${isNumber ? ' number' : ''}`;
export const rowId = (seq: number) => `exchange-${seq}`;

/** Rendered again only when its data has changed: that is what makes a list of 10,000 scroll smoothly. */
export function Row({ row, index, rowHeight, isSelected, scaleMs }: Properties) {
  return useMemo(
    () => (
      <div
        role="row"
        id={rowId(row.seq)}
        class={`row ${row.decision ?? ''} ${row.state}`}
        aria-rowindex={index + 2}
        aria-selected={isSelected}
        style={{ transform: `translateY(${index * rowHeight}px)` }}
        onClick={() => openExchange(row.id)}
      >
        {columns.map((column, place) => (
          <span
            role="gridcell"
            key={column.name}
            class={cellClass(column)}
            aria-colindex={place + 1}
            title={column.hint?.(row)}
            dir="auto"
          >
            {column.cell(row, scaleMs)}
          </span>
        ))}
      </div>
    ),
    [row, index, rowHeight, isSelected, scaleMs],
  );
}
