import type { Command } from 'commander';
import { saveSession } from '../../client/session.ts';
import { ensureStateDirectory } from '../../client/state.ts';
import { GatewayError } from '../../errors.ts';
import { askPassword, askText, canAsk, readPassword } from '../shell/ask.ts';
import { type CommonOptions, createCommand } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';
import { printValue } from '../shell/print/print.ts';
import { withSpinner } from '../shell/spinner.ts';
import { connect } from './connect.ts';

interface LoginOptions {
  readonly user?: string;
  readonly passwordStdin?: true;
}

export function build(io: Io): Command {
  return createCommand({
    name: 'login',
    summary: 'plant store: log in and keep the session for later commands',
    examples: [
      'gateway login -u demo',
      'gateway login -u demo --password-stdin < password.txt',
      'PLANTS_URL=https://plants.example/v3 gateway login',
    ],
  })
    .option('-u, --user <name>', 'the user (asked for if missing)')
    .option('--password-stdin', 'read the password from standard input')
    .action(async (given: LoginOptions, command: Command) => {
      const { options, connection, client } = await connect(command, io);
      ensureStateDirectory(io.env); // before a session is made that could not be kept
      const username = await userName(given, options, io);
      const password = await passwordOf(given, options, io);
      const { baseUrl } = connection;
      const { token, expiresIn } = await withSpinner('logging in', options, io, () =>
        client.login(username, password),
      );
      const expiresAt = Date.now() + expiresIn * 1_000;
      const file = saveSession(io.env, { baseUrl, username, token, expiresAt });
      const until = new Date(expiresAt).toISOString();
      const text = `logged in as ${username} at ${baseUrl} until ${until}; session kept in ${file}\n`;
      const value = { username, base_url: baseUrl, expires_at: until, session_file: file };
      await printValue(value, text, options, io);
      if (io.env.PLANTS_TOKEN)
        io.stderr.write('PLANTS_TOKEN is set and takes precedence over this session\n');
    });
}

async function userName({ user }: LoginOptions, options: CommonOptions, io: Io): Promise<string> {
  if (user !== undefined) return user;
  if (canAsk(options, io)) return askText('User', io);
  throw new GatewayError('usage.invalid', 'no user: give one with -u');
}

async function passwordOf({ passwordStdin }: LoginOptions, options: CommonOptions, io: Io): Promise<string> {
  if (passwordStdin === true) return readPassword(io);
  if (canAsk(options, io)) return askPassword('Password', io);
  throw new GatewayError('usage.invalid', 'no password: give it on standard input with --password-stdin');
}
