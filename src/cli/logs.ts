import type { Command } from 'commander';
import { GatewayError } from '../errors.ts';
import { withUserHistory } from './history/open-history.ts';
import { type ExchangeFilter, followExchanges, listExchanges } from './logs/exchanges.ts';
import { buildRemove } from './logs/remove.ts';
import { search, show, shownId } from './logs/show.ts';
import {
  type CommonOptions,
  commonOptions,
  createCommand,
  durationArgument,
  positiveInteger,
} from './shell/command.ts';
import type { Io } from './shell/io.ts';
import { printList } from './shell/print/table.ts';
import { recordsFile } from './shell/running-configuration.ts';

interface LogsOptions extends CommonOptions, ExchangeFilter {
  readonly follow?: true;
  readonly conversations?: true;
  readonly limit: number;
}

export function build(io: Io): Command {
  const logs = createCommand({
    name: 'logs',
    summary: 'show exchanges and conversations',
    examples: [
      'gateway logs -f --blocked',
      'gateway logs show req_8f2c',
      'gateway logs search "water lilies"',
    ],
  })
    .option('-f, --follow', 'keep printing new exchanges')
    .option('--conversations', 'list saved conversations instead of exchanges')
    .option('--blocked', 'only what was refused')
    .option('--project <name>', 'only what this project sent')
    .option('--session <id>', "only this session's, as agents name it")
    .option('--since <duration>', 'only what began within 90m, 24h, 7d or 4w', durationArgument)
    .option('-n, --limit <n>', 'print at most this many', positiveInteger, 20)
    .action(async (_options: unknown, command: Command) => {
      const options = commonOptions(command) as LogsOptions;
      if (options.conversations === true) return listConversations(options, io);
      const file = await recordsFile(options, io);
      const list = options.follow === true ? followExchanges : listExchanges;
      await list({ ...options, file }, options, io);
    });
  logs.addCommand(buildShow(io));
  logs.addCommand(buildSearch(io));
  logs.addCommand(buildRemove(io));
  return logs;
}

function buildShow(io: Io): Command {
  return createCommand({
    name: 'show',
    summary: 'show an exchange by its request id, or a conversation by its id or name',
    examples: ['gateway logs show req_8f2c', 'gateway logs show c7', 'gateway logs show holidays -o json'],
  })
    .argument('<id>', 'req_… of an exchange, c… or the name of a conversation')
    .action(async (wanted: string, _options: unknown, command: Command) => {
      const options = commonOptions(command);
      await show(wanted, { ...options, file: await recordsFile(options, io) }, io);
    });
}

function buildSearch(io: Io): Command {
  return createCommand({
    name: 'search',
    summary: 'find a text in conversations and recorded exchanges',
    examples: [
      'gateway logs search lilies',
      'gateway logs search "water lilies" -n 100',
      'gateway logs search 東京 -o ndjson',
    ],
  })
    .argument('<text>', 'literal text to find, in any case')
    .option('-n, --limit <n>', 'print at most this many', positiveInteger, 20)
    .action(async (text: string, _options: unknown, command: Command) => {
      const options = commonOptions(command) as LogsOptions;
      if (text.trim() === '') throw new GatewayError('usage.invalid', 'there is no text to search for');
      const { limit } = options;
      await search({ text, limit, file: await recordsFile(options, io) }, options, io);
    });
}

async function listConversations(options: LogsOptions, io: Io): Promise<void> {
  if (options.follow === true) {
    throw new GatewayError('usage.invalid', '--follow shows exchanges; --conversations lists what is saved');
  }
  await withUserHistory(io.env, async (history) => {
    const list = (history?.list(options.limit) ?? []).map((kept) => ({
      id: shownId(kept),
      name: kept.name,
      model: kept.model,
      turns: kept.turns,
      updated: new Date(kept.updatedMs).toISOString(),
      beginning: kept.beginning.replace(/\s+/g, ' '),
    }));
    await printList(
      [list],
      {
        header: ['ID', 'NAME', 'MODEL', 'TURNS', 'UPDATED', 'BEGINNING'],
        row: ({ id, name, model, turns, updated, beginning }) => [
          id,
          name ?? '',
          model,
          String(turns),
          updated,
          beginning.slice(0, 60),
        ],
      },
      options,
      io,
    );
  });
}
