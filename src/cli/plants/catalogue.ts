import { type Command, InvalidArgumentError, Option } from 'commander';
import type { WatchedEvent } from '../../client/plant-events.ts';
import { type Plant, type PlantSearch, printable } from '../../client/plants.ts';
import { GatewayError } from '../../errors.ts';
import { createCommand, positiveInteger } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';
import { formatted, print } from '../shell/print/print.ts';
import { type Listing, printList, printOne } from '../shell/print/table.ts';
import { withSpinner } from '../shell/spinner.ts';
import { endOfWatching } from '../shell/terminal.ts';
import { connect, connectLoggedIn } from './connect.ts';

const plantListing: Listing<Plant> = {
  header: ['ID', 'NAME', 'STATUS', 'TAGS', 'CATEGORY'],
  row: ({ id, name, status, tags, category }) =>
    [String(id), name, status, tags.join(','), category ?? ''].map(printable),
};

export function buildSearch(io: Io): Command {
  return createCommand({
    name: 'search',
    summary: 'find plants by tags, status, name and category',
    examples: [
      'gateway plants search --tags green,leafy',
      'gateway plants search --tags green,edible --match all --status available',
      "gateway plants search --name fern --category houseplant -o json | jq '.[].name'",
    ],
  })
    .option('--tags <tags>', 'tags separated by commas (default: all plants)', searchTags)
    .addOption(new Option('--match <how>', 'whether one of the tags is enough').choices(['any', 'all']))
    .addOption(statusOption('only plants with this status'))
    .option('--name <text>', 'only plants with this text in their name, in any case', searchText)
    .option('--category <category>', 'only plants of this category, in any case', searchText)
    .option('--limit <number>', 'most plants to print (default: all)', positiveInteger)
    .action(async (search: PlantSearch, command: Command) => {
      const { options, client } = await connect(command, io);
      // Commander puts the common options beside them.
      const { tags, match, status, name, category, limit } = search;
      const batches = client.search({ tags, match, status, name, category, limit });
      await withSpinner('searching', options, io, () => printList(batches, plantListing, options, io));
    });
}

export function buildGet(io: Io): Command {
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

interface AddOptions {
  readonly category?: string;
  readonly tags?: string[];
  readonly status?: Plant['status'];
}

export function buildAdd(io: Io): Command {
  return createCommand({
    name: 'add',
    summary: 'add a plant (needs a login)',
    examples: [
      'gateway plants add "Maidenhair Fern" --tags green,leafy,shade',
      'gateway plants add Sage --category herb --status pending',
      'gateway plants add Thyme -o json',
    ],
  })
    .argument('<name>', 'its name')
    .option('--category <category>', 'the kind of plant')
    .option('--tags <tags>', 'tags separated by commas', tagList)
    .addOption(statusOption('its status (default: available)'))
    .action(async (name: string, { category, tags, status }: AddOptions, command: Command) => {
      const { options, client } = await connectLoggedIn(command, io);
      const plant = await withSpinner('adding', options, io, () =>
        client.add({ name, category, tags, status }),
      );
      await printOne(plant, plantListing, options, io);
    });
}

interface UpdateOptions {
  readonly name?: string;
  /** False with --no-category. */
  readonly category?: string | false;
  readonly tags?: string[];
  readonly status?: Plant['status'];
}

export function buildUpdate(io: Io): Command {
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
      // Commander's default of an option with a --no- twin is true.
      const given = typeof category === 'string' ? category : undefined;
      const change = { name, category: category === false ? null : given, tags, status };
      if (Object.values(change).every((value) => value === undefined)) {
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

export function buildDelete(io: Io): Command {
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

function statusOption(description: string): Option {
  return new Option('--status <status>', description).choices(['available', 'pending', 'sold']);
}

/** Tags separated by commas; an empty text is no tags. */
function tagList(text: string): string[] {
  if (text.trim() === '') return [];
  const tags = text.split(',').map((tag) => tag.trim());
  if (tags.includes('')) throw new InvalidArgumentError('expected tags separated by single commas');
  return tags;
}

function searchTags(text: string): readonly string[] {
  const tags = tagList(text);
  if (tags.length === 0) throw new InvalidArgumentError('expected one or more tags');
  return tags;
}

function searchText(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('expected some text');
  return text;
}

const types = ['plant.created', 'plant.updated', 'plant.status.changed', 'plant.deleted'];

interface WatchCommandOptions {
  readonly type?: readonly string[];
  readonly plant?: number;
}

export function buildWatch(io: Io): Command {
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
      }).catch((error: unknown) => {
        throw endOfWatching(error, io);
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
