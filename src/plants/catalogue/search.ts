import { type CompiledQuery, createQueryId, type SqlBool, sql } from 'kysely';
import type { Queries } from '../database/open.ts';
import { type Status, searchKey } from '../plant/plant.ts';

export interface Search {
  /** Empty: all plants. */
  readonly tags: readonly string[];
  readonly match: 'any' | 'all';
  readonly status?: Status;
  /** Part of the name. */
  readonly name?: string;
  readonly category?: string;
  readonly limit: number;
  /** Only plants with a greater id. */
  readonly after: number;
}

export interface PlantRow {
  readonly id: number;
  readonly name: string;
  readonly category: string | null;
  readonly status: string;
  readonly tags: string;
}

export interface Page {
  readonly rows: readonly PlantRow[];
  readonly hasMore: boolean;
}

export const plantColumns = [
  'plants.id',
  'plants.name',
  'plants.category',
  'plants.status',
  'plants.tags',
] as const;

interface Shape {
  readonly tagCount: number;
  readonly match: Search['match'];
  readonly filters: readonly FilterName[];
}

const filterNames = ['status', 'name', 'category'] as const;
type FilterName = (typeof filterNames)[number];

type Slot =
  | { readonly kind: 'after' | 'limit' | FilterName }
  | { readonly kind: 'tag'; readonly index: number };

interface Prepared {
  readonly query: CompiledQuery<PlantRow>;
  readonly slots: readonly Slot[];
}

// Placeholders that are recognized in the compiled query's parameters; no real value looks like them.
const afterMark = -1;
const limitMark = -2;
const filterMark = (name: FilterName) => `\0${name}`;
const tagMark = (index: number) => `\0tag ${index}`;

/**
 * Searches by tags, status, name, category and page. kysely takes longer to build such a query than SQLite to run it, so
 * each form of query is built once and then only filled with values.
 */
export function createSearch(queries: Queries): (search: Search) => Promise<Page> {
  const prepared = new Map<string, Prepared>();
  return async (search) => {
    const keys = [...new Set(search.tags.map(searchKey))];
    const shape = {
      tagCount: keys.length,
      match: keys.length < 2 ? 'any' : search.match,
      filters: filterNames.filter((name) => search[name] !== undefined),
    } satisfies Shape;
    const shapeKey = `${shape.match} ${shape.tagCount} ${shape.filters}`;
    let ready = prepared.get(shapeKey);
    if (ready === undefined) {
      ready = prepare(queries, shape);
      prepared.set(shapeKey, ready);
    }
    const parameters = ready.slots.map((slot) => valueFor(slot, search, keys));
    const { rows } = await queries.executeQuery<PlantRow>({
      ...ready.query,
      parameters,
      queryId: createQueryId(),
    });
    const hasMore = rows.length > search.limit;
    return { rows: hasMore ? rows.slice(0, search.limit) : rows, hasMore };
  };
}

function prepare(queries: Queries, shape: Shape): Prepared {
  const query = build(queries, shape).compile();
  return { query, slots: query.parameters.map(toSlot) };
}

function toSlot(parameter: unknown): Slot {
  if (parameter === afterMark) return { kind: 'after' };
  if (parameter === limitMark) return { kind: 'limit' };
  const filter = filterNames.find((name) => parameter === filterMark(name));
  if (filter !== undefined) return { kind: filter };
  return { kind: 'tag', index: Number(String(parameter).slice(tagMark(0).length - 1)) };
}

function valueFor(slot: Slot, search: Search, keys: readonly string[]): unknown {
  switch (slot.kind) {
    case 'after':
      return search.after;
    case 'limit':
      return search.limit + 1; // one more shows whether there is a next page
    case 'status':
      return search.status;
    case 'name':
      return `%${escapePattern(searchKey(search.name ?? ''))}%`;
    case 'category':
      return searchKey(search.category ?? '');
    case 'tag':
      return keys[slot.index];
  }
}

function escapePattern(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}

/** What a plant must be besides its tags; the same for every table alias that stands for plants. */
function conditions(alias: 'plants' | 'tagged', filters: Shape['filters']) {
  const column = (name: string) => sql.ref(`${alias}.${name}`);
  const each = {
    status: sql<SqlBool>`${column('status')} = ${filterMark('status')}`,
    name: sql<SqlBool>`${column('name_key')} like ${filterMark('name')} escape '\\'`,
    category: sql<SqlBool>`${column('category_key')} = ${filterMark('category')}`,
  } satisfies Record<FilterName, unknown>;
  return filters.map((name) => each[name]);
}

function build(queries: Queries, shape: Shape) {
  if (shape.tagCount === 0) {
    return queries
      .selectFrom('plants')
      .select(plantColumns)
      .where('plants.id', '>', afterMark)
      .where((where) => where.and(conditions('plants', shape.filters)))
      .orderBy('plants.id')
      .limit(limitMark);
  }
  const found = shape.match === 'all' ? havingAll(queries, shape) : havingAny(queries, shape);
  return queries
    .selectFrom(found.as('found'))
    .innerJoin('plants', 'plants.id', 'found.plant_id')
    .select(plantColumns)
    .orderBy('plants.id')
    .limit(limitMark);
}

/** The first ids with one tag: a range of the key's index, up to the limit. */
function having(queries: Queries, index: number, { filters }: Shape) {
  return queries
    .selectFrom('plant_tags')
    .select('plant_tags.plant_id')
    .where('plant_tags.tag_key', '=', tagMark(index))
    .where('plant_tags.plant_id', '>', afterMark)
    .$if(filters.length > 0, (query) =>
      query
        .innerJoin('plants as tagged', 'tagged.id', 'plant_tags.plant_id')
        .where((where) => where.and(conditions('tagged', filters))),
    )
    .orderBy('plant_tags.plant_id');
}

function havingAny(queries: Queries, shape: Shape) {
  // Each tag yields no more ids than are wanted in all, so a common tag costs no more than a rare one.
  // SQLite allows order and limit only inside a subquery of a union.
  const branch = (index: number) =>
    queries.selectFrom(having(queries, index, shape).limit(limitMark).as('first')).select('first.plant_id');
  let union = branch(0);
  for (let index = 1; index < shape.tagCount; index += 1) union = union.union(branch(index));
  return union;
}

function havingAll(queries: Queries, shape: Shape) {
  let query = having(queries, 0, shape);
  for (let index = 1; index < shape.tagCount; index += 1) {
    query = query.where((where) =>
      where.exists(
        where
          .selectFrom('plant_tags as other')
          .select('other.plant_id')
          .whereRef('other.plant_id', '=', 'plant_tags.plant_id')
          .where('other.tag_key', '=', tagMark(index)),
      ),
    );
  }
  return queries.selectFrom(query.limit(limitMark).as('first')).select('first.plant_id');
}
