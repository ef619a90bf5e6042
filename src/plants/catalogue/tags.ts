import type { Queries } from '../database/open.ts';
import { searchKey } from '../plant/search-key.ts';

/** Stores the tags for searches; spellings that compare as equal are one entry. */
export async function insertTags(queries: Queries, id: number, tags: readonly string[]): Promise<void> {
  const keys = [...new Set(tags.map(searchKey))];
  if (keys.length === 0) return;
  await queries
    .insertInto('plant_tags')
    .values(keys.map((key) => ({ tag_key: key, plant_id: id })))
    .execute();
}
