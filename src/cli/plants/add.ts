import type { Command } from 'commander';
import type { Plant } from '../../client/plants.ts';
import { createCommand } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';
import { printOne } from '../shell/print/listing.ts';
import { withSpinner } from '../shell/spinner.ts';
import { connectLoggedIn } from './connect.ts';
import { plantListing, statusOption, tagList } from './plant-listing.ts';

interface AddOptions {
  readonly category?: string;
  readonly tags?: readonly string[];
  readonly status?: Plant['status'];
}

export function build(io: Io): Command {
  return createCommand({
    name: 'add',
    summary: 'add a plant (needs a login)',
    examples: [
      'gateway plants add "Maidenhair Fern" --tags green,leafy,shade',
      'gateway plants add Sage --category herb --status pending',
      'gateway plants add Thyme -o json',
    ],
  })
    .argument('<name>', 'its name')
    .option('--category <category>', 'the kind of plant')
    .option('--tags <tags>', 'tags separated by commas', tagList)
    .addOption(statusOption('its status (default: available)'))
    .action(async (name: string, { category, tags, status }: AddOptions, command: Command) => {
      const { options, client } = await connectLoggedIn(command, io);
      const plant = await withSpinner('adding', options, io, () =>
        client.add({
          name,
          ...(category === undefined ? {} : { category }),
          ...(tags === undefined ? {} : { tags: [...tags] }),
          ...(status === undefined ? {} : { status }),
        }),
      );
      await printOne(plant, plantListing, options, io);
    });
}
