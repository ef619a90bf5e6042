import type { Command } from 'commander';
import { createCommand, positiveInteger } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';
import { printOne } from '../shell/print/listing.ts';
import { withSpinner } from '../shell/spinner.ts';
import { connect } from './connect.ts';
import { plantListing } from './plant-listing.ts';

export function build(io: Io): Command {
  return createCommand({
    name: 'get',
    summary: 'print one plant',
    examples: ['gateway plants get 1', 'gateway plants get 1 -o json', 'gateway plants get 1 -o yaml'],
  })
    .argument('<id>', "the plant's id", positiveInteger)
    .action(async (id: number, _options: unknown, command: Command) => {
      const { options, client } = await connect(command, io);
      const plant = await withSpinner('asking', options, io, () => client.get(id));
      await printOne(plant, plantListing, options, io);
    });
}
