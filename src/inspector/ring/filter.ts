import { GatewayError } from '../../errors.ts';
import type { ExchangeRow } from '../contract/exchange-list.ts';
import { type Show, shows } from '../contract/show.ts';

export interface ListFilter {
  readonly limit: number;
  matches(row: ExchangeRow): boolean;
}

type Test = (row: ExchangeRow) => boolean;

const exact = ['project', 'client', 'provider'] as const;
const searched = [
  'id',
  'path',
  'project',
  'key',
  'client',
  'model',
  'target_model',
  'provider',
  'rule',
  'reason',
] as const;
const maxRows = 500;

/** The filter that a query asks for. Throws request.field for what it doesn't know. */
export function parseFilter(query: URLSearchParams): ListFilter {
  const tests: Test[] = [];
  const anyOf = (name: string, test: (wanted: string, row: ExchangeRow) => boolean) => {
    const wanted = query.getAll(name);
    if (wanted.length > 0) tests.push((row) => wanted.some((each) => test(each, row)));
  };
  for (const name of new Set(query.keys()))
    if (!known.has(name)) throw unknownField(name, 'there is no such filter');
  for (const name of exact) anyOf(name, (wanted, row) => row[name] === wanted);
  anyOf('model', (wanted, row) => row.model === wanted || row.target_model === wanted);
  anyOf('status', (wanted, row) => String(row.status) === wanted);
  anyOf('text', (wanted, row) =>
    searched.some((field) => row[field]?.toLowerCase().includes(wanted.toLowerCase())),
  );
  const kinds = query.getAll('show').map((kind) => {
    if (Object.hasOwn(shows, kind)) return shows[kind as Show];
    throw unknownField('show', `expected ${Object.keys(shows).join(', ')}`);
  });
  if (kinds.length > 0) tests.push((row) => kinds.some((kind) => kind(row)));
  const slowerMs = number(query, 'slower');
  if (slowerMs !== undefined) tests.push(({ total_ms }) => (total_ms ?? 0) >= slowerMs);
  const before = number(query, 'before');
  if (before !== undefined) tests.push(({ seq }) => seq < before);
  return {
    limit: Math.min(maxRows, number(query, 'limit') ?? maxRows),
    matches: (row) => tests.every((test) => test(row)),
  };
}

const known: ReadonlySet<string> = new Set([
  ...exact,
  'model',
  'status',
  'text',
  'show',
  'slower',
  'before',
  'limit',
]);

function number(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  if (/^\d{1,12}(?:\.\d{1,3})?$/.test(text)) return Number(text);
  throw unknownField(name, 'expected a number');
}

function unknownField(param: string, message: string): GatewayError {
  return new GatewayError('request.field', `${param}: ${message}`, { param });
}
