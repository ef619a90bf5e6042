import type { Queries } from '../database/open.ts';
import { type PlantStatus, searchKey } from '../plant/plant.ts';

type Row = readonly [name: string, category: string, status: PlantStatus, tags: readonly string[]];

/** The small catalogue of a new store, so that a first search finds something. */
const catalogue: readonly Row[] = [
  ['Boston Fern', 'houseplant', 'available', ['green', 'leafy', 'shade', 'indoor']],
  ['Monstera Deliciosa', 'houseplant', 'available', ['green', 'leafy', 'indoor', 'large']],
  ['Snake Plant', 'houseplant', 'available', ['green', 'indoor', 'easy']],
  ['Lavender', 'herb', 'available', ['purple', 'fragrant', 'sun', 'outdoor']],
  ['Basil', 'herb', 'available', ['green', 'leafy', 'edible', 'fragrant']],
  ['Rosemary', 'herb', 'pending', ['green', 'edible', 'fragrant', 'sun']],
  ['Golden Barrel Cactus', 'succulent', 'available', ['spiny', 'sun', 'easy', 'dry']],
  ['Aloe Vera', 'succulent', 'sold', ['green', 'easy', 'dry', 'indoor']],
  ['Jade Plant', 'succulent', 'pending', ['green', 'easy', 'indoor', 'small']],
  ['Peace Lily', 'houseplant', 'available', ['white', 'flowering', 'shade', 'indoor']],
  ['Moth Orchid', 'houseplant', 'sold', ['pink', 'flowering', 'indoor']],
  ['Climbing Rose', 'shrub', 'available', ['red', 'flowering', 'outdoor', 'fragrant']],
  ['Blue Hydrangea', 'shrub', 'pending', ['blue', 'flowering', 'outdoor', 'shade']],
  ['Japanese Maple', 'tree', 'available', ['red', 'leafy', 'outdoor', 'large']],
  ['Lemon Tree', 'tree', 'available', ['yellow', 'edible', 'fragrant', 'sun']],
  ['Cherry Tomato', 'vegetable', 'sold', ['red', 'edible', 'sun', 'outdoor']],
];

export async function seedCatalogue(queries: Queries): Promise<void> {
  for (const [name, category, status, tags] of catalogue) {
    const { id } = await queries
      .insertInto('plants')
      .values({ name, category, status, tags: JSON.stringify(tags) })
      .returning('id')
      .executeTakeFirstOrThrow();
    await insertTags(queries, id, tags);
  }
}

/** Stores the tags for searches; spellings that compare as equal are one entry. */
export async function insertTags(queries: Queries, id: number, tags: readonly string[]): Promise<void> {
  const keys = [...new Set(tags.map(searchKey))];
  if (keys.length === 0) return;
  await queries
    .insertInto('plant_tags')
    .values(keys.map((key) => ({ tag_key: key, plant_id: id })))
    .execute();
}
