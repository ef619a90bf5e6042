import { type Command, Option } from 'commander';
import type { PlantSearch } from '../../client/plants.ts';
import { createCommand, positiveInteger } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';
import { printList } from '../shell/listing.ts';
import { withSpinner } from '../shell/spinner.ts';
import { connect } from './connect.ts';
import { plantListing, searchTags, statusOption } from './plant-listing.ts';

export function build(io: Io): Command {
  return createCommand({
    name: 'search',
    summary: 'find plants by tags and status',
    examples: [
      'gateway plants search --tags green,leafy',
      'gateway plants search --tags green,edible --match all --status available',
      "gateway plants search --limit 10 -o json | jq '.[].name'",
    ],
  })
    .option('--tags <tags>', 'tags separated by commas (default: all plants)', searchTags)
    .addOption(new Option('--match <how>', 'whether one of the tags is enough').choices(['any', 'all']))
    .addOption(statusOption('only plants with this status'))
    .option('--limit <number>', 'most plants to print (default: every one)', positiveInteger)
    .action(async (search: PlantSearch, command: Command) => {
      const { options, client } = await connect(command, io);
      // Commander put the common options beside them; the client takes what it knows.
      const { tags, match, status, limit } = search;
      const batches = client.search({
        ...(tags === undefined ? {} : { tags }),
        ...(match === undefined ? {} : { match }),
        ...(status === undefined ? {} : { status }),
        ...(limit === undefined ? {} : { limit }),
      });
      await withSpinner('searching', options, io, () => printList(batches, plantListing, options, io));
    });
}
