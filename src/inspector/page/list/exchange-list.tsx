import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ExchangeRow } from '../../contract/exchange-list.ts';
import { niceScale } from './cells.tsx';
import { cellClass, columns, Row, rowId } from './row.tsx';

interface Properties {
  /** Newest first. */
  readonly rows: readonly ExchangeRow[];
  readonly selected: string | undefined;
  /** Shown if there are no rows. */
  readonly empty: ComponentChildren;
}

// Rows above and below the window: a flick shows rows, not blank space.
const overscan = 8;

/** A virtualized grid: only the visible rows are rendered. */
export function ExchangeList({ rows, selected, empty }: Properties) {
  const grid = useRef<HTMLDivElement>(null);
  // The row height that the stylesheet yields at this width and text size.
  const probe = useRef<HTMLDivElement>(null);
  const [rowHeight, setRowHeight] = useState(28);
  const [first, setFirst] = useState(0);
  const [count, setCount] = useState(60);

  const measure = () => {
    const element = grid.current;
    if (element === null) return;
    const height = probe.current?.offsetHeight || 28;
    const top = Math.max(0, Math.floor(element.scrollTop / height) - overscan);
    setRowHeight(height);
    setCount(Math.ceil(element.clientHeight / height) + 2 * overscan + 8);
    // In steps, so that not every pixel of scrolling renders.
    setFirst(top - (top % 8));
  };

  useEffect(() => {
    const element = grid.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useAnchor(grid, rows, rowHeight);
  useReveal(grid, rows, selected, rowHeight);

  const shown = rows.slice(first, first + count);
  const scaleMs = niceScale(shown.reduce((longest, { total_ms }) => Math.max(longest, total_ms ?? 0), 0));
  const active = rows.find(({ id }) => id === selected);
  return (
    <div
      ref={grid}
      class="exchange-list"
      role="grid"
      aria-label="Exchanges, newest first"
      aria-rowcount={rows.length + 1}
      aria-colcount={columns.length}
      aria-activedescendant={active && shown.includes(active) ? rowId(active.seq) : undefined}
      tabIndex={0}
      onScroll={measure}
    >
      <div ref={probe} class="row-probe" role="presentation" />
      <div role="row" class="row head" aria-rowindex={1}>
        {columns.map((column, place) => (
          <span role="columnheader" key={column.name} class={cellClass(column)} aria-colindex={place + 1}>
            {column.title}
          </span>
        ))}
      </div>
      <div role="rowgroup" class="canvas" style={{ height: `${rows.length * rowHeight}px` }}>
        {/* By place and not by exchange: when rows come in above, texts change and no elements come and go. */}
        {shown.map((row, offset) => (
          <Row
            key={first + offset}
            row={row}
            index={first + offset}
            rowHeight={rowHeight}
            isSelected={row.id === selected}
            scaleMs={scaleMs}
          />
        ))}
      </div>
      {rows.length === 0 && <div class="empty">{empty}</div>}
    </div>
  );
}

/** Keeps what is in view in place when rows are added above, if the user has scrolled down. */
function useAnchor(grid: RefObject<HTMLElement | null>, rows: readonly ExchangeRow[], rowHeight: number) {
  const last = useRef<number>(undefined);
  useLayoutEffect(() => {
    const element = grid.current;
    const before = last.current;
    last.current = rows[0]?.seq;
    if (element === null || before === undefined || element.scrollTop < rowHeight) return;
    const added = rows.findIndex(({ seq }) => seq === before);
    if (added > 0) element.scrollTop += added * rowHeight;
  }, [rows]);
}

/** Scrolls as far as needed when another row is selected, not when rows are added. */
function useReveal(
  grid: RefObject<HTMLElement | null>,
  rows: readonly ExchangeRow[],
  selected: string | undefined,
  rowHeight: number,
) {
  useLayoutEffect(() => {
    const element = grid.current;
    const index = rows.findIndex(({ id }) => id === selected);
    if (element === null || index === -1) return;
    const head = element.querySelector<HTMLElement>('.head')?.offsetHeight ?? 0;
    const top = index * rowHeight;
    const bottom = top + rowHeight + head;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (bottom > element.scrollTop + element.clientHeight)
      element.scrollTop = bottom - element.clientHeight;
  }, [selected]);
}
