import { InvalidArgumentError, Option } from 'commander';
import type { Plant } from '../../client/plants.ts';
import { printable } from '../../client/plants-failure.ts';
import type { Listing } from '../shell/print/listing.ts';

export const plantListing: Listing<Plant> = {
  header: ['ID', 'NAME', 'STATUS', 'TAGS', 'CATEGORY'],
  row: ({ id, name, status, tags, category }) =>
    [String(id), name, status, tags.join(','), category ?? ''].map(printable),
};

export function statusOption(description: string): Option {
  return new Option('--status <status>', description).choices(['available', 'pending', 'sold']);
}

/** Tags separated by commas; an empty text is no tags. */
export function tagList(text: string): readonly string[] {
  if (text.trim() === '') return [];
  const tags = text.split(',').map((tag) => tag.trim());
  if (tags.includes('')) throw new InvalidArgumentError('expected tags separated by single commas');
  return tags;
}

export function searchTags(text: string): readonly string[] {
  const tags = tagList(text);
  if (tags.length === 0) throw new InvalidArgumentError('expected one or more tags');
  return tags;
}

export function searchText(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('expected some text');
  return text;
}
