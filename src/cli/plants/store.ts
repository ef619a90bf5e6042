import { once } from 'node:events';
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { type RunningStore, runningStoreFile } from '../../client/address.ts';
import { ensureStateDirectory, readState, removeState, writeState } from '../../client/state.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { GatewayError } from '../../errors.ts';
import { type Paint, painter } from '../../lib/paint.ts';
import { askPassword, canAsk, readPassword } from '../shell/ask.ts';
import {
  type CommonOptions,
  commonOptions,
  createCommand,
  outputFormat,
  portNumber,
} from '../shell/command.ts';
import { hasColour, type Io, write } from '../shell/io.ts';
import { loadUserConfig } from '../shell/load-config.ts';
import { printValue } from '../shell/print/print.ts';
import { printOne } from '../shell/print/table.ts';
import { wrapping } from '../shell/print/wrapped.ts';

interface ServeOptions {
  readonly port?: number;
  readonly plantsPort?: number;
  readonly host?: string;
  readonly database?: string;
}

export function buildServe(io: Io): Command {
  return createCommand({
    name: 'serve',
    summary: 'run the plant store alone (gateway serve runs it beside the gateway)',
    examples: [
      'gateway plants serve',
      'gateway plants serve -p 4201 --database sqlite:shop.sqlite',
      'PGPASSWORD=… gateway plants serve --database postgres://plants@127.0.0.1/plants',
    ],
  })
    .option('-p, --port <port>', 'port; 0 takes a free one (default: 4101)', portNumber)
    .addOption(
      new Option('--plants-port <port>', 'the same, as under gateway serve')
        .argParser(portNumber)
        .conflicts('port'),
    )
    .option('--host <host>', 'address to listen on (default: 127.0.0.1)')
    .option(databaseOption, databaseHelp)
    .action(async (given: ServeOptions, command: Command) => {
      const options = commonOptions(command);
      const { quiet, color } = options;
      const loaded = await loadConfigured(options, io);
      const configured = loaded?.config.plants.store;
      const database = given.database ?? configured?.database;
      const { startStore } = await import('../../plants/store.ts');
      const isForPeople = io.stderr.isTTY === true;
      const paint = painter(color && hasColour(io.stderr, io.env));
      const stderr = await wrapping(io.stderr);
      const store = await startStore({
        host: given.host ?? configured?.host ?? '127.0.0.1',
        port: given.port ?? given.plantsPort ?? configured?.port ?? 4101,
        database: database ?? defaultDatabase(io.env),
        // No demo user if a database was chosen: its owner creates the users.
        demoUser: database === undefined,
        log: (record) => {
          if (quiet === true) return;
          stderr.write(isForPeople ? requestLine(record, paint) : jsonLine(record));
        },
      });
      if (quiet !== true) {
        stderr.write(`plants  ${store.url}   docs ${store.url}/docs\n`);
        if (loaded?.path !== undefined) stderr.write(`config  ${loaded.path}\n`);
      }
      if (store.demoPassword !== undefined) {
        stderr.write(
          `user    demo   password ${store.demoPassword}   (shown only now; gateway plants user reset makes another)\n`,
        );
      }
      const running: RunningStore = { url: store.url, pid: process.pid };
      writeState(io.env, runningStoreFile, running);
      if (!io.signal.aborted) await once(io.signal, 'abort');
      const known = readState(io.env, runningStoreFile) as Partial<RunningStore> | undefined;
      if (known?.url === store.url && known.pid === process.pid) removeState(io.env, runningStoreFile);
      await store.drain();
    });
}

function jsonLine(record: object): string {
  return `${JSON.stringify({ time: new Date().toISOString(), ...record })}\n`;
}

interface AddOptions {
  readonly email?: string;
  readonly passwordStdin?: true;
  readonly database?: string;
}

export function buildUser(io: Io): Command {
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
      const configured = (await loadConfigured(options, io))?.config.plants.store.database;
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
      'gateway plants user reset',
    ],
  });
  return user.addCommand(add).addCommand(buildReset(io));
}

function buildReset(io: Io): Command {
  return createCommand({
    name: 'reset',
    summary: 'give a user of the local database a new password, and print it; their sessions end',
    examples: [
      'gateway plants user reset',
      'gateway plants user reset | gateway login -u demo --password-stdin',
      'gateway plants user reset rosa --password-stdin < password.txt',
    ],
  })
    .argument('[name]', 'whose; in a store without users, demo is made', 'demo')
    .option('--password-stdin', 'read the password from standard input, instead of making one')
    .option(databaseOption, databaseHelp)
    .action(async (username: string, given: Omit<AddOptions, 'email'>, command: Command) => {
      outputFormat(command, ['text', 'json']);
      const options = commonOptions(command);
      const { randomPassword, resetPassword } = await import('../../plants/store.ts');
      const made = given.passwordStdin === true ? undefined : randomPassword();
      const password = made ?? (await readPassword(io));
      const configured = (await loadConfigured(options, io))?.config.plants.store.database;
      const database = given.database ?? configured ?? defaultDatabase(io.env);
      const user = await resetPassword(database, { username, password });
      const value = { id: user.id, username: user.username, password: made ?? null };
      await printValue(value, made === undefined ? '' : `${made}\n`, options, io);
      if (options.quiet !== true && io.stderr.isTTY === true)
        await write(
          io.stderr,
          `the new password of ${user.username}; log in: gateway login -u ${user.username}\n`,
        );
    });
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

const databaseOption = '--database <address>';
const databaseHelp =
  'sqlite:FILE or postgres://USER@HOST/NAME, its password in PGPASSWORD (default: SQLite in the state directory)';

/** The database of this user's own store: a file in the state directory, which is created if needed. */
export function defaultDatabase(env: Io['env']): string {
  return `sqlite:${join(ensureStateDirectory(env), 'plants.sqlite')}`;
}

/** The configuration, with the plant store's part; undefined if there is no file. Throws config.invalid and config.untrusted. */
export async function loadConfigured(options: CommonOptions, io: Io): Promise<LoadedConfig | undefined> {
  // Checked first, so that the schema is not loaded if there is no file.
  const { findConfig } = await import('../../config/source/find.ts');
  if ((await findConfig({ file: options.config, cwd: io.cwd, env: io.env })) === undefined) return undefined;
  return loadUserConfig(options, io);
}

/** A record of the plant store's log as a line for a person. */
export function requestLine(record: object, paint: Paint): string {
  const time = paint('dim', new Date().toTimeString().slice(0, 8));
  const {
    event,
    method,
    operation,
    status,
    duration_ms: duration,
    reason,
    cause,
    ...rest
  }: Record<string, unknown> = {
    ...record,
  };
  if (event !== 'plants.request') {
    const details = JSON.stringify({ reason, cause, ...rest });
    return `${time}   ${event}${details === '{}' ? '' : ` ${details}`}\n`;
  }
  const mark = Number(status) < 400 ? paint('green', '✓') : paint('red', '✗');
  const words = [time, mark, status, method, operation ?? '-', `${duration}ms`, reason, cause];
  return `${words.filter((word) => word !== undefined).join(' ')}\n`;
}
