import { once } from 'node:events';
import { type Command, Option } from 'commander';
import { painter } from '../../paint.ts';
import { commonOptions, createCommand, portNumber } from '../shell/command.ts';
import { hasColour, type Io } from '../shell/io.ts';
import { configuredPlants, databaseHelp, databaseOption, defaultDatabase, requestLine } from './own-store.ts';

interface ServeOptions {
  readonly port?: number;
  readonly plantsPort?: number;
  readonly host?: string;
  readonly database?: string;
}

export function build(io: Io): Command {
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
      const configured = (await configuredPlants(options, io))?.store;
      const database = given.database ?? configured?.database;
      const { startStore } = await import('../../plants/store.ts');
      const isForPeople = io.stderr.isTTY === true;
      const paint = painter(color && hasColour(io.stderr, io.env));
      const store = await startStore({
        host: given.host ?? configured?.host ?? '127.0.0.1',
        port: given.port ?? given.plantsPort ?? configured?.port ?? 4101,
        database: database ?? defaultDatabase(io.env),
        // No demo user if a database was chosen: its owner creates the users.
        demoUser: database === undefined,
        log: (record) => {
          if (quiet === true) return;
          io.stderr.write(isForPeople ? requestLine(record, paint) : jsonLine(record));
        },
      });
      if (quiet !== true) {
        io.stderr.write(`plants  ${store.url}   docs ${store.url}/docs\n`);
        if (!store.url.includes(':4101/'))
          io.stderr.write(`other commands find it with PLANTS_URL=${store.url}\n`);
      }
      if (store.demoPassword !== undefined) {
        io.stderr.write(`user    demo   password ${store.demoPassword}   (shown only now)\n`);
      }
      if (!io.signal.aborted) await once(io.signal, 'abort');
      await store.drain();
    });
}

function jsonLine(record: object): string {
  return `${JSON.stringify({ time: new Date().toISOString(), ...record })}\n`;
}
