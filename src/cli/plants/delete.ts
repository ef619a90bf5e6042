import type { Command } from 'commander';
import { createCommand, positiveInteger } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';
import { printOne } from '../shell/print/listing.ts';
import { withSpinner } from '../shell/spinner.ts';
import { connectLoggedIn } from './connect.ts';
import { plantListing } from './plant-listing.ts';

export function build(io: Io): Command {
  return createCommand({
    name: 'delete',
    summary: 'delete a plant (needs a login) and print it',
    examples: [
      'gateway plants delete 17',
      'gateway plants delete 17 -q',
      'gateway plants delete 17 -o json > deleted.json',
    ],
  })
    .argument('<id>', "the plant's id", positiveInteger)
    .action(async (id: number, _options: unknown, command: Command) => {
      const { options, client } = await connectLoggedIn(command, io);
      const plant = await withSpinner('deleting', options, io, () => client.remove(id));
      await printOne(plant, plantListing, options, io);
    });
}
