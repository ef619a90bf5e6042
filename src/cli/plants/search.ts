import { type Command, Option } from 'commander';
import type { PlantSearch } from '../../client/plants.ts';
import { createCommand, positiveInteger } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';
import { printList } from '../shell/print/listing.ts';
import { withSpinner } from '../shell/spinner.ts';
import { connect } from './connect.ts';
import { plantListing, searchTags, searchText, statusOption } from './plant-listing.ts';

export function build(io: Io): Command {
  return createCommand({
    name: 'search',
    summary: 'find plants by tags, status, name and category',
    examples: [
      'gateway plants search --tags green,leafy',
      'gateway plants search --tags green,edible --match all --status available',
      "gateway plants search --name fern --category houseplant -o json | jq '.[].name'",
    ],
  })
    .option('--tags <tags>', 'tags separated by commas (default: all plants)', searchTags)
    .addOption(new Option('--match <how>', 'whether one of the tags is enough').choices(['any', 'all']))
    .addOption(statusOption('only plants with this status'))
    .option('--name <text>', 'only plants with this text in their name, in any case', searchText)
    .option('--category <category>', 'only plants of this category, in any case', searchText)
    .option('--limit <number>', 'most plants to print (default: all)', positiveInteger)
    .action(async (search: PlantSearch, command: Command) => {
      const { options, client } = await connect(command, io);
      // Commander puts the common options beside them.
      const { tags, match, status, name, category, limit } = search;
      const batches = client.search({
        ...(tags === undefined ? {} : { tags }),
        ...(match === undefined ? {} : { match }),
        ...(status === undefined ? {} : { status }),
        ...(name === undefined ? {} : { name }),
        ...(category === undefined ? {} : { category }),
        ...(limit === undefined ? {} : { limit }),
      });
      await withSpinner('searching', options, io, () => printList(batches, plantListing, options, io));
    });
}
