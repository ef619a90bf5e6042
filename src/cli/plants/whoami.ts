import type { Command } from 'commander';
import { createCommand } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';
import { printOne } from '../shell/print/listing.ts';
import { withSpinner } from '../shell/spinner.ts';
import { connectLoggedIn } from './connect.ts';

export function build(io: Io): Command {
  return createCommand({
    name: 'whoami',
    summary: 'plant store: print the user who is logged in',
    examples: ['gateway whoami', 'gateway plants whoami', 'gateway whoami -o json'],
  }).action(async (_options: unknown, command: Command) => {
    const { options, connection, client } = await connectLoggedIn(command, io);
    const user = await withSpinner('asking', options, io, () => client.whoami());
    const listing = {
      header: ['USER', 'E-MAIL', 'STORE'],
      row: () => [user.username, user.email, connection.baseUrl],
    };
    await printOne({ ...user, base_url: connection.baseUrl }, listing, options, io);
  });
}
