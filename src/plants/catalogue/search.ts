import { type RawBuilder, sql } from 'kysely';
import type { Queries } from '../database/open.ts';
import { type PlantStatus, searchKey } from '../plant/plant.ts';

export interface PlantQuery {
  /** Empty: all plants. */
  readonly tags: readonly string[];
  readonly match: 'any' | 'all';
  readonly status: PlantStatus | undefined;
  /** Part of the name. */
  readonly name: string | undefined;
  readonly category: string | undefined;
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

const columns = sql.join(plantColumns.map((name) => sql.ref(name)));

/** Searches by tags, status, name, category and page. */
export function createSearch(queries: Queries): (search: PlantQuery) => Promise<Page> {
  return async (search) => {
    const { rows } = await toQuery(search).execute(queries);
    const hasMore = rows.length > search.limit;
    return { rows: hasMore ? rows.slice(0, search.limit) : rows, hasMore };
  };
}

function toQuery(search: PlantQuery): RawBuilder<PlantRow> {
  const [first, ...others] = new Set(search.tags.map(searchKey));
  if (first === undefined) {
    return sql<PlantRow>`select ${columns} from plants
      where plants.id > ${search.after} ${conditions(search)} order by plants.id limit ${most(search)}`;
  }
  const found =
    search.match === 'all' ? havingAll(search, first, others) : havingAny(search, [first, ...others]);
  return sql<PlantRow>`select ${columns} from (${found}) as found
    join plants on plants.id = found.plant_id order by plants.id limit ${most(search)}`;
}

/** One more shows whether there is a next page. */
function most({ limit }: PlantQuery): number {
  return limit + 1;
}

/** What a plant must be besides its tags. */
function conditions({ status, name, category }: PlantQuery): RawBuilder<unknown> {
  const pattern = `%${searchKey(name ?? '').replace(/[\\%_]/g, '\\$&')}%`;
  return sql.join(
    [
      ...(status === undefined ? [] : [sql`and plants.status = ${status}`]),
      ...(name === undefined ? [] : [sql`and plants.name_key like ${pattern} escape '\\'`]),
      ...(category === undefined ? [] : [sql`and plants.category_key = ${searchKey(category)}`]),
    ],
    sql` `,
  );
}

/**
 * The first ids with all of the tags. Each tag yields no more ids than are wanted in all, from one range of the key's index,
 * so a common tag costs no more than a rare one.
 */
function havingAll(search: PlantQuery, tag: string, others: readonly string[]): RawBuilder<unknown> {
  const { status, name, category, after } = search;
  const isFiltered = [status, name, category].some((filter) => filter !== undefined);
  const join = isFiltered ? sql`join plants on plants.id = plant_tags.plant_id` : sql``;
  const exist = others.map(
    (other) => sql`and exists (select 1 from plant_tags as other
      where other.plant_id = plant_tags.plant_id and other.tag_key = ${other})`,
  );
  return sql`select plant_tags.plant_id from plant_tags ${join}
    where plant_tags.tag_key = ${tag} and plant_tags.plant_id > ${after} ${sql.join(exist, sql` `)} ${conditions(search)}
    order by plant_tags.plant_id limit ${most(search)}`;
}

/** SQLite allows order and limit only inside a subquery of a union. */
function havingAny(search: PlantQuery, tags: readonly string[]): RawBuilder<unknown> {
  const each = tags.map((tag) => sql`select first.plant_id from (${havingAll(search, tag, [])}) as first`);
  return sql.join(each, sql` union `);
}
