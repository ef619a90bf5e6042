import type { Command } from 'commander';
import { GatewayError } from '../../errors.ts';
import { askPassword, canAsk, readPassword } from '../shell/ask.ts';
import { type CommonOptions, commonOptions, createCommand } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';
import { printOne } from '../shell/print/listing.ts';
import { configuredPlants, databaseHelp, databaseOption, defaultDatabase } from './own-store.ts';

interface AddOptions {
  readonly email?: string;
  readonly passwordStdin?: true;
  readonly database?: string;
}

export function build(io: Io): Command {
  const add = createCommand({
    name: 'add',
    summary: 'create a user in the local database, whether or not the store is running',
    examples: [
      'gateway plants user add rosa',
      'gateway plants user add rosa --email rosa@example.org --password-stdin < password.txt',
      'gateway plants user add rosa --database sqlite:shop.sqlite',
    ],
  })
    .argument('<name>', '1 to 64 letters, digits, dots, dashes and underscores')
    .option('--email <address>', 'e-mail address')
    .option('--password-stdin', 'read the password from standard input')
    .option(databaseOption, databaseHelp)
    .action(async (username: string, given: AddOptions, command: Command) => {
      const options = commonOptions(command);
      const password = await newPassword(given, options, io);
      const { addUser } = await import('../../plants/store.ts');
      const { email, database } = given;
      const configured = (await configuredPlants(options, io))?.store.database;
      const user = await addUser(database ?? configured ?? defaultDatabase(io.env), {
        username,
        password,
        ...(email === undefined ? {} : { email }),
      });
      const listing = {
        header: ['ID', 'USER', 'E-MAIL'],
        row: () => [String(user.id), user.username, user.email],
      };
      await printOne(user, listing, options, io);
    });
  const user = createCommand({
    name: 'user',
    summary: 'manage users of the plant store',
    examples: [
      'gateway plants user add rosa',
      'gateway plants user add rosa --password-stdin < password.txt',
      'gateway plants user add --help',
    ],
  });
  return user.addCommand(add);
}

async function newPassword({ passwordStdin }: AddOptions, options: CommonOptions, io: Io): Promise<string> {
  if (passwordStdin === true) return readPassword(io);
  if (!canAsk(options, io)) {
    throw new GatewayError('usage.invalid', 'no password: give it on standard input with --password-stdin');
  }
  const password = await askPassword('Password', io);
  if (password === (await askPassword('The same again', io))) return password;
  throw new GatewayError('usage.invalid', 'the two passwords are different');
}
