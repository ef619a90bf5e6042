import { GatewayError } from '../../errors.ts';
import type { Database, Queries } from '../database/open.ts';
import { createdEvents, deletedEvents, type Feed, updatedEvents } from '../events/feed.ts';
import { type NewPlant, type Plant, type PlantChange, type PlantStatus, searchKey } from '../plant/plant.ts';
import { createSearch, type PlantRow, plantColumns } from './search.ts';
import { insertTags } from './seed.ts';

export type Catalogue = ReturnType<typeof createPlantCatalogue>;

export function createPlantCatalogue(database: Database, feed: Pick<Feed, 'write'>, now: () => number) {
  const { queries, kind } = database;
  return {
    add: (plant: NewPlant) =>
      feed.write(async (transaction) => {
        const value = await insert(transaction, plant);
        return { value, events: createdEvents(value, now()) };
      }),
    /** Throws plant.unknown, and plant.ambiguous if several plants have the name. */
    update: (change: PlantChange) =>
      feed.write(async (transaction) => {
        const before = toPlant(await findForUpdate(transaction, kind, change.target));
        const value = applyChange(before, change);
        await store(transaction, value, change.tags !== undefined);
        return { value, events: updatedEvents(before.status, value, now()) };
      }),
    /** The plant as it was. Throws plant.unknown. */
    remove: (id: number) =>
      feed.write(async (transaction) => {
        const value = toPlant(await findForUpdate(transaction, kind, { id }));
        await transaction.deleteFrom('plants').where('id', '=', id).execute(); // its tags go with it
        return { value, events: deletedEvents(value, now()) };
      }),
    get: async (id: number) => {
      const row = await queries
        .selectFrom('plants')
        .select(plantColumns)
        .where('id', '=', id)
        .executeTakeFirst();
      if (row === undefined) throw unknownPlant(`no plant has the id ${id}`);
      return toPlant(row);
    },
    search: createSearch(queries),
  };
}

async function insert(transaction: Queries, plant: NewPlant): Promise<Plant> {
  const { id } = await transaction
    .insertInto('plants')
    .values(toColumns(plant))
    .returning('id')
    .executeTakeFirstOrThrow();
  await insertTags(transaction, id, plant.tags);
  return { id, ...plant };
}

async function findForUpdate(
  transaction: Queries,
  kind: Database['kind'],
  target: PlantChange['target'],
): Promise<PlantRow> {
  const found = await transaction
    .selectFrom('plants')
    .select(plantColumns)
    .$call((query) =>
      'id' in target ? query.where('id', '=', target.id) : query.where('name', '=', target.name),
    )
    .limit(2)
    // A SQLite transaction holds the only write lock anyway.
    .$if(kind === 'postgres', (query) => query.forUpdate())
    .execute();
  const [row] = found;
  if (row === undefined) {
    throw unknownPlant('id' in target ? `no plant has the id ${target.id}` : 'no plant has this name');
  }
  if (found.length > 1) {
    throw new GatewayError('plant.ambiguous', 'several plants have this name: name one by its id', {
      param: 'name',
    });
  }
  return row;
}

function applyChange(before: Plant, change: PlantChange): Plant {
  const { category: oldCategory, ...rest } = before;
  const category = change.category === undefined ? oldCategory : change.category;
  return {
    ...rest,
    ...(category === undefined || category === null ? {} : { category }),
    name: change.name ?? before.name,
    status: change.status ?? before.status,
    tags: change.tags ?? before.tags,
  };
}

async function store(transaction: Queries, plant: Plant, hasNewTags: boolean): Promise<void> {
  await transaction.updateTable('plants').set(toColumns(plant)).where('id', '=', plant.id).execute();
  if (!hasNewTags) return;
  await transaction.deleteFrom('plant_tags').where('plant_id', '=', plant.id).execute();
  await insertTags(transaction, plant.id, plant.tags);
}

function toColumns({ name, category, status, tags }: NewPlant) {
  return {
    name,
    name_key: searchKey(name),
    category: category ?? null,
    category_key: category === undefined ? null : searchKey(category),
    status,
    tags: JSON.stringify(tags),
  };
}

function toPlant({ id, name, category, status, tags }: PlantRow): Plant {
  return {
    id,
    name,
    ...(category === null ? {} : { category }),
    status: status as PlantStatus, // guaranteed by the table's CHECK
    tags: JSON.parse(tags) as string[], // written only by `insert` and `store`
  };
}

function unknownPlant(message: string): GatewayError {
  return new GatewayError('plant.unknown', message);
}
