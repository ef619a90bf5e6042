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

export type ColumnName = (typeof columns)[number]['name'];

/** Narrow lists leave columns out, so each cell says which one it is in. */
export const columnIndex = Object.fromEntries(
  columns.map(({ name }, index) => [name, index + 1]),
) as Readonly<Record<ColumnName, number>>; // one of each
