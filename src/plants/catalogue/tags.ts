import type { Queries } from '../database/open.ts';

/** A tag as it is compared: without case, in one Unicode form, without blanks around it. */
export function tagKey(tag: string): string {
  return tag.normalize('NFC').trim().toLowerCase();
}

/** Makes the tags findable; spellings that compare alike are one entry. */
export async function insertTags(queries: Queries, id: number, tags: readonly string[]): Promise<void> {
  const keys = [...new Set(tags.map(tagKey))];
  if (keys.length === 0) return;
  await queries
    .insertInto('plant_tags')
    .values(keys.map((key) => ({ tag_key: key, plant_id: id })))
    .execute();
}
