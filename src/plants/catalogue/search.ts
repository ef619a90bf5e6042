import { type CompiledQuery, createQueryId } from 'kysely';
import type { Queries } from '../database/open.ts';
import type { Status } from '../plant/fields.ts';
import { tagKey } from './tags.ts';

export interface Search {
  /** None: all plants. */
  readonly tags: readonly string[];
  readonly match: 'any' | 'all';
  readonly status?: Status;
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
  readonly hasStatus: boolean;
}

type Slot =
  | { readonly kind: 'after' | 'limit' | 'status' }
  | { readonly kind: 'tag'; readonly index: number };

interface Prepared {
  readonly query: CompiledQuery<PlantRow>;
  readonly slots: readonly Slot[];
}

// Stand-ins that are recognised in the compiled query's parameters; no real value looks like them.
const afterMark = -1;
const limitMark = -2;
const statusMark = '\0status';
const tagMark = (index: number) => `\0tag ${index}`;

/**
 * Searches by tags, status and place. kysely takes longer to build such a query than SQLite to run it,
 * so each shape is built once and then only given its values.
 */
export function createSearch(queries: Queries): (search: Search) => Promise<Page> {
  const prepared = new Map<string, Prepared>();
  return async (search) => {
    const keys = [...new Set(search.tags.map(tagKey))];
    const shape = {
      tagCount: keys.length,
      match: keys.length < 2 ? 'any' : search.match,
      hasStatus: search.status !== undefined,
    } satisfies Shape;
    const name = `${shape.match} ${shape.tagCount} ${shape.hasStatus}`;
    let ready = prepared.get(name);
    if (ready === undefined) {
      ready = prepare(queries, shape);
      prepared.set(name, ready);
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
  if (parameter === statusMark) return { kind: 'status' };
  return { kind: 'tag', index: Number(String(parameter).slice(tagMark(0).length - 1)) };
}

function valueFor(slot: Slot, search: Search, keys: readonly string[]): unknown {
  switch (slot.kind) {
    case 'after':
      return search.after;
    case 'limit':
      return search.limit + 1; // one more tells whether there is a next page
    case 'status':
      return search.status;
    case 'tag':
      return keys[slot.index];
  }
}

function build(queries: Queries, shape: Shape) {
  if (shape.tagCount === 0) {
    return queries
      .selectFrom('plants')
      .select(plantColumns)
      .where('plants.id', '>', afterMark)
      .$if(shape.hasStatus, (query) => query.where('plants.status', '=', statusMark))
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

/** The first ids with one tag: a run of the key's index, cut off at the limit. */
function having(queries: Queries, index: number, { hasStatus }: Shape) {
  return queries
    .selectFrom('plant_tags')
    .select('plant_tags.plant_id')
    .where('plant_tags.tag_key', '=', tagMark(index))
    .where('plant_tags.plant_id', '>', afterMark)
    .$if(hasStatus, (query) =>
      query
        .innerJoin('plants as tagged', 'tagged.id', 'plant_tags.plant_id')
        .where('tagged.status', '=', statusMark),
    )
    .orderBy('plant_tags.plant_id');
}

function havingAny(queries: Queries, shape: Shape) {
  // Each tag gives no more ids than are wanted in all, so a common tag costs no more than a rare one.
  // SQLite takes order and limit only inside a subquery of a union.
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
