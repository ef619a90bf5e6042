import stringWidth from 'fast-string-width';
import wrapAnsi from 'wrap-ansi';
import type { MarkdownStyle } from './markdown-style.ts';

interface Cells {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly align: readonly ('left' | 'right' | 'center' | null)[];
}

const gap = '  ';
const leastColumn = 4;

/** A table whose cells wrap to fit; if that is not enough, its rows as blocks below each other. */
export function tableLines({ header, rows, align }: Cells, style: MarkdownStyle): readonly string[] {
  const room = style.width - gap.length * (header.length - 1);
  if (room < header.length * leastColumn) return recordLines(header, rows, style);
  const widest = header.map((title, i) =>
    Math.max(1, ...[title, ...rows.map((row) => row[i] ?? '')].map((cell) => stringWidth(cell))),
  );
  const widths = fitted(widest, room);
  const line = (row: readonly string[]) => rowLines(row, widths, align);
  return [
    ...line(header.map((title) => style.paint('bold', title))),
    style.paint('dim', widths.map((width) => style.rule.repeat(width)).join(gap)),
    ...rows.flatMap(line),
  ];
}

/** The widest columns shrink first. */
function fitted(widest: readonly number[], room: number): readonly number[] {
  const widths = [...widest];
  for (let over = widths.reduce((sum, width) => sum + width, 0) - room; over > 0; ) {
    const largest = Math.max(...widths);
    const next = Math.max(leastColumn, ...widths.filter((width) => width < largest));
    const share = widths.filter((width) => width === largest).length;
    const step = Math.max(1, Math.min(largest - next, Math.ceil(over / share)));
    for (let i = 0; i < widths.length && over > 0; i += 1) {
      if (widths[i] !== largest) continue;
      widths[i] = largest - step;
      over -= step;
    }
  }
  return widths;
}

function rowLines(
  row: readonly string[],
  widths: readonly number[],
  align: Cells['align'],
): readonly string[] {
  const cells = widths.map((width, i) => wrapAnsi(row[i] ?? '', width, { hard: true }).split('\n'));
  const height = Math.max(...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, y) =>
    widths
      .map((width, i) => padded(cells[i]?.[y] ?? '', width, align[i] ?? null))
      .join(gap)
      .trimEnd(),
  );
}

function padded(text: string, width: number, align: Cells['align'][number]): string {
  const free = Math.max(0, width - stringWidth(text));
  if (align === 'right') return ' '.repeat(free) + text;
  if (align !== 'center') return text + ' '.repeat(free);
  return ' '.repeat(free >> 1) + text + ' '.repeat(free - (free >> 1));
}

function recordLines(
  header: readonly string[],
  rows: Cells['rows'],
  { width, paint }: MarkdownStyle,
): readonly string[] {
  return rows.flatMap((row, y) => [
    ...(y === 0 ? [] : ['']),
    ...row.flatMap((cell, i) =>
      wrapAnsi(`${paint('bold', `${header[i] ?? ''}:`)} ${cell}`, width, { hard: true }).split('\n'),
    ),
  ]);
}
