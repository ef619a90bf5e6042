import type { Command } from 'commander';
import type { Plant } from '../../client/plants.ts';
import { GatewayError } from '../../errors.ts';
import { createCommand, positiveInteger } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';
import { printOne } from '../shell/print/listing.ts';
import { withSpinner } from '../shell/spinner.ts';
import { connectLoggedIn } from './connect.ts';
import { plantListing, statusOption, tagList } from './plant-listing.ts';

interface UpdateOptions {
  readonly name?: string;
  /** False with --no-category. */
  readonly category?: string | false;
  readonly tags?: readonly string[];
  readonly status?: Plant['status'];
}

export function build(io: Io): Command {
  return createCommand({
    name: 'update',
    summary: 'change a plant (needs a login); what is not given stays as it is',
    examples: [
      'gateway plants update 3 --status sold',
      'gateway plants update 3 --tags green,easy --name "Snake Plant (large)"',
      "gateway plants update 3 --no-category --tags ''",
    ],
  })
    .argument('<id>', "the plant's id", positiveInteger)
    .option('--name <name>', 'new name')
    .option('--category <category>', 'the kind of plant')
    .option('--no-category', 'remove the category')
    .option('--tags <tags>', 'new tags, separated by commas; they replace the old ones', tagList)
    .addOption(statusOption('new status'))
    .action(async (id: number, { name, category, tags, status }: UpdateOptions, command: Command) => {
      const change = {
        ...(name === undefined ? {} : { name }),
        ...(typeof category === 'string' ? { category } : {}),
        // Commander's default of an option with a --no- twin is true.
        ...(category === false ? { category: null } : {}),
        ...(tags === undefined ? {} : { tags: [...tags] }),
        ...(status === undefined ? {} : { status }),
      };
      if (Object.keys(change).length === 0) {
        throw new GatewayError(
          'usage.invalid',
          'nothing to change: give --name, --category, --tags or --status',
        );
      }
      const { options, client } = await connectLoggedIn(command, io);
      const plant = await withSpinner('changing', options, io, () => client.update({ id, ...change }));
      await printOne(plant, plantListing, options, io);
    });
}
