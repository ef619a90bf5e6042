import { type ExchangeRow, type Show, shows } from '../contract/exchange-list.ts';

export const showNames = Object.keys(shows) as Show[]; // of a literal: no other keys

/** What the list is filtered by; in the page's URL under the same names. */
export interface Filter {
  readonly show: readonly Show[];
  readonly project: string;
  readonly model: string;
  /** Milliseconds. */
  readonly slower: number | undefined;
  readonly text: string;
}

export const noFilter: Filter = { show: [], project: '', model: '', slower: undefined, text: '' };

export function parseFilter(query: string): Filter {
  const parameters = new URLSearchParams(query);
  const slower = Number(parameters.get('slower') ?? Number.NaN);
  return {
    show: showNames.filter((show) => parameters.getAll('show').includes(show)),
    project: parameters.get('project') ?? '',
    model: parameters.get('model') ?? '',
    slower: Number.isFinite(slower) && slower > 0 ? slower : undefined,
    text: parameters.get('text') ?? '',
  };
}

export function toQuery({ show, project, model, slower, text }: Filter): string {
  const parameters = new URLSearchParams();
  for (const one of show) parameters.append('show', one);
  if (project !== '') parameters.set('project', project);
  if (model !== '') parameters.set('model', model);
  if (slower !== undefined) parameters.set('slower', String(slower));
  if (text !== '') parameters.set('text', text);
  const query = parameters.toString();
  return query === '' ? '' : `?${query}`;
}

export function isNarrowed(filter: Filter): boolean {
  return toQuery(filter) !== '';
}

/** Compiles the filter; the result is called for every row. */
export function toPredicate({ show, project, model, slower, text }: Filter): (row: ExchangeRow) => boolean {
  const part = text.trim().toLowerCase();
  return (row) =>
    (show.length === 0 || show.some((one) => shows[one](row))) &&
    (project === '' || row.project === project) &&
    (model === '' || row.model === model || row.target_model === model) &&
    (slower === undefined || (row.total_ms ?? 0) >= slower) &&
    (part === '' || searchText(row).includes(part));
}

function searchText(row: ExchangeRow): string {
  const { id, path, project, key, session, client, model, target_model, provider, rule, reason } = row;
  return [id, path, project, key, session, client, model, target_model, provider, rule, reason]
    .join('\n')
    .toLowerCase();
}
