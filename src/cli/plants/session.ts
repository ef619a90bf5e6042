import type { Command } from 'commander';
import { removeSession, saveSession } from '../../client/session.ts';
import { ensureStateDirectory } from '../../client/state.ts';
import { GatewayError } from '../../errors.ts';
import { askPassword, askText, canAsk, readPassword } from '../shell/ask.ts';
import { type CommonOptions, createCommand } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';
import { note, printValue } from '../shell/print/print.ts';
import { printOne } from '../shell/print/table.ts';
import { wrapped } from '../shell/print/wrapped.ts';
import { withSpinner } from '../shell/spinner.ts';
import { connect, connectLoggedIn, unlessNoStore } from './connect.ts';

interface LoginOptions {
  readonly user?: string;
  readonly passwordStdin?: true;
}

export function buildLogin(io: Io): Command {
  return createCommand({
    name: 'login',
    summary:
      'plant store: log in as one of its users and keep the session; no login at a model provider goes here',
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
      await printValue(value, await wrapped(text, io.stdout), options, io);
      if (io.env.PLANTS_TOKEN) await note('PLANTS_TOKEN is set and takes precedence over this session\n', io);
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

export function buildLogout(io: Io): Command {
  return createCommand({
    name: 'logout',
    summary: 'plant store: end the session and delete it here',
    examples: ['gateway logout', 'gateway plants logout', 'PLANTS_TOKEN=… gateway logout'],
  }).action(async (_options: unknown, command: Command) => {
    const connected = await connect(command, io).catch(unlessNoStore);
    if (connected === undefined) return note('no plant store is named or running: nothing to end\n', io);
    const { options, connection, client } = connected;
    const { baseUrl, token } = connection;
    // Deleted here first: even if the store fails, this user is logged out on this machine.
    if (!io.env.PLANTS_TOKEN) removeSession(io.env, baseUrl);
    if (token !== undefined) {
      await withSpinner('logging out', options, io, () => client.logout()).catch((error: unknown) => {
        throw notRevoked(error);
      });
    }
    const wasLoggedIn = token !== undefined;
    const text = wasLoggedIn ? `logged out at ${baseUrl}\n` : `not logged in at ${baseUrl}: nothing to end\n`;
    const result = { base_url: baseUrl, logged_out: wasLoggedIn };
    await printValue(result, text, options, io);
  });
}

function notRevoked(error: unknown): unknown {
  if (!(error instanceof GatewayError) || error.code !== 'store.unreachable') return error;
  const message = `forgotten here, but not revoked, so it is valid until it expires: ${error.message}`;
  return new GatewayError(error.code, message, { cause: error });
}

export function buildWhoami(io: Io): Command {
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
