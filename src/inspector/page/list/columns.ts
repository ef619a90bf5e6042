/** The list's columns: CSS class, and name for people and screen readers. */
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
