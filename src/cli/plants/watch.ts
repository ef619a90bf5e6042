import { type Command, Option } from 'commander';
import type { WatchedEvent } from '../../client/plant-events.ts';
import { printable } from '../../client/plants.ts';
import { createCommand, positiveInteger } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';
import { formatted, print } from '../shell/print/print.ts';
import { connectLoggedIn } from './connect.ts';

const types = ['plant.created', 'plant.updated', 'plant.status.changed', 'plant.deleted'];

interface WatchCommandOptions {
  readonly type?: readonly string[];
  readonly plant?: number;
}

export function build(io: Io): Command {
  return createCommand({
    name: 'watch',
    summary: 'print changes to the catalogue until interrupted (needs a login; --timeout is for connecting)',
    examples: [
      'gateway plants watch',
      'gateway plants watch --type plant.status.changed -o ndjson',
      'gateway plants watch --plant 3',
    ],
  })
    .addOption(new Option('--type <types...>', 'only events of these types').choices(types))
    .option('--plant <id>', 'only events of this plant', positiveInteger)
    .action(async ({ type, plant }: WatchCommandOptions, command: Command) => {
      const { options, connection, token } = await connectLoggedIn(command, io);
      const { watchPlants } = await import('../../client/plant-events.ts'); // its WebSocket takes 40 ms to load
      const report = (text: string) => options.quiet !== true && io.stderr.write(`${text}\n`);
      await watchPlants({
        ...connection,
        token,
        ...(type === undefined ? {} : { eventTypes: type }),
        ...(plant === undefined ? {} : { plantId: plant }),
        onEvent: async (event) => print(await eventText(event, options.output, io), io),
        onState: (state) => {
          if (state === 'connection lost') report('connection lost; events may be missed until it is back');
          else if (state === 'watching again') report('connected again');
          else if (io.stderr.isTTY === true) report(`watching ${connection.baseUrl} (Ctrl-C ends)`);
        },
      });
    });
}

async function eventText(event: WatchedEvent, output = 'text', io: Io): Promise<string> {
  if (output === 'json' || output === 'ndjson') return formatted(event, 'ndjson');
  if (output === 'yaml') return `---\n${await formatted(event, 'yaml')}`;
  const { type, occurredAt, data, plantId, previousStatus, newStatus } = event;
  const cells =
    data === undefined
      ? [occurredAt, type, String(plantId), `${previousStatus} -> ${newStatus}`]
      : [occurredAt, type, String(data.id), data.name, data.status];
  return `${cells.map(printable).join(io.stdout.isTTY === true ? '  ' : '\t')}\n`;
}
